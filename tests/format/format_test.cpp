// Formats: the jobs they make and the requests they refuse. Also key files and hexadecimal digits.
#include "format/format.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/formats.hpp"
#include "keys/key.hpp"
#include "support/aes_reference.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/keys.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view some_iv = "00112233445566778899aabbccddeeff";

// A user's request; there is no key if `key_bytes` is 0, and no IV if `iv` is empty.
SessionRequest request_for(std::size_t key_bytes, std::string_view iv = some_iv,
                           std::optional<Cipher> cipher = {}) {
  SessionRequest request;
  request.cipher = cipher;
  if (key_bytes > 0) {
    request.keyring.keys.push_back(key_file(test_bytes(key_bytes)));
  }
  if (!iv.empty()) request.iv = iv;
  return request;
}

std::unique_ptr<Session> raw(std::string_view iv) {
  return open_raw(request_for(16, iv));
}

Job job_at(const Session& session, std::uint64_t offset) {
  return session.job({offset, {}, {}});
}

std::string refusal(SessionRequest request) {
  return failure_of([&] { open_raw(std::move(request)); });
}

Secret parse(std::string_view text) {
  return parse_key(to_bytes(text), "secret.key");
}

// The key as hexadecimal digits, or the error.
std::string parsed(std::string_view text) {
  std::string digits;
  const std::string failure = failure_of([&] {
    const Secret key = parse(text);
    for (const std::byte byte : key.bytes()) {
      constexpr std::string_view hex = "0123456789abcdef";
      digits += hex[std::to_integer<unsigned>(byte) >> 4];
      digits += hex[std::to_integer<unsigned>(byte) & 15];
    }
  });
  return failure.empty() ? digits : failure;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

TEST_CASE("formats are found by name") {
  for (const std::string_view name : {"sealed", "cobblestone", "openssl", "raw"})
    CHECK(find_format(name).name == name);
  CHECK(find_format("sealed").authenticated);
  CHECK(find_format("cobblestone").authenticated);
  CHECK_FALSE(find_format("openssl").authenticated);
  CHECK_FALSE(find_format("raw").authenticated);
  CHECK(open_session(find_format("raw"), request_for(16)) != nullptr);
  for (const std::string_view name : {"", "RAW", "ra", "raw ", "rawx", "none"}) {
    const auto error = error_of<UsageError>([&] { find_format(name); });
    REQUIRE(error.has_value());
    CHECK(contains(error->what(), "unknown format '" + std::string(name) + "'"));
    CHECK(error->hint() == "the formats are sealed, cobblestone, openssl, raw");
  }
}

TEST_CASE("the sealed and openssl formats are detected by their magic, which is not taken from the input") {
  const auto detected = [](std::string_view text, decltype(&detect_format) detect = &detect_format) {
    const Bytes bytes = to_bytes(text);
    std::size_t at = 0;
    HeaderReader input([&](std::span<std::byte> room) {
      const std::size_t count = std::min({room.size(), bytes.size() - at, std::size_t{3}});
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, room.begin());
      at += count;
      return count;
    });
    std::string name;
    const std::string failure = failure_of([&] { name = detect(input).name; });
    CHECK(input.taken() == 0);
    return failure.empty() ? name : failure;
  };
  CHECK(detected("gpuaes-stream/1\n and more") == "sealed");
  CHECK(detected("gpuaes-stream/2\n and more") == "sealed");
  CHECK(detected("gpuaes-stream/") == "sealed");
  CHECK(detected("Salted__12345678 and more") == "openssl");
  CHECK(detected("Salted__") == "openssl");
  for (const std::string_view text :
       {"gpuaes-stream", "Salted_", "salted__12345678", "x", "age-encryption.org/v1"})
    CHECK(contains(detected(text), "auth: the input is not in a known format"));
  CHECK(contains(detected(""), "auth: the input is empty"));
  const auto hint_for = [](std::size_t zeros) {
    HeaderReader input([zeros](std::span<std::byte> to) mutable {
      const std::size_t count = std::min(std::exchange(zeros, 0u), to.size());
      std::ranges::fill(to.first(count), std::byte{0});
      return count;
    });
    const auto error = error_of<AuthError>([&] { detect_format(input); });
    REQUIRE(error.has_value());
    return error->hint();
  };
  CHECK(hint_for(1) == "name the format with -f if it is one of cobblestone, openssl, raw");
  CHECK(hint_for(0).empty());

  const auto detected_to_decrypt = [&](std::string_view text) {
    return detected(text, detect_authenticated_format);
  };
  CHECK(detected_to_decrypt("gpuaes-stream/1\n and more") == "sealed");
  CHECK(contains(
      detected_to_decrypt("Salted__12345678 and more"),
      "auth: the input appears to be in the openssl format, which is not authenticated and must be named"));
  CHECK(contains(detected_to_decrypt("Salted_"), "auth: the input is not in a known format"));
  CHECK(contains(detected_to_decrypt(""), "auth: the input is empty"));
}

TEST_CASE("an option that a format does not accept is a usage error that lists the formats that do") {
  const auto refusal = [](std::string_view format, auto&& give) {
    SessionRequest request = request_for(32, format == "raw" ? some_iv : "");
    give(request);
    const auto error = error_of<UsageError>([&] { open_session(find_format(format), std::move(request)); });
    return error ? error->what() + (" | " + error->hint()) : std::string();
  };
  const auto iv = [](SessionRequest& request) { request.iv = some_iv; };
  const auto context = [](SessionRequest& request) { request.context = ""; };
  const auto label = [](SessionRequest& request) { request.label = "label"; };
  const auto iterations = [](SessionRequest& request) { request.iterations = 1; };
  const auto second_key = [](SessionRequest& request) {
    request.keyring.keys.push_back(key_file(Bytes(32)));
  };
  const auto passphrase = [](SessionRequest& request) {
    request.keyring.keys.push_back(passphrase_key(Bytes(1)));
  };
  CHECK(refusal("sealed", iv) == "the sealed format does not accept --iv | formats that accept it: raw");
  CHECK(refusal("sealed", context) ==
        "the sealed format does not accept --context | formats that accept it: cobblestone");
  CHECK(refusal("sealed", iterations) ==
        "the sealed format does not accept --iter | formats that accept it: openssl");
  CHECK(refusal("cobblestone", second_key) ==
        "the cobblestone format does not accept more than one key | formats that accept it: sealed");
  CHECK(refusal("raw", passphrase) ==
        "the raw format does not accept a passphrase | formats that accept it: sealed, openssl");
  CHECK(contains(refusal("raw", second_key), "the raw format does not accept more than one key"));
  CHECK(contains(refusal("raw", context), "the raw format does not accept --context"));
  CHECK(contains(refusal("cobblestone", iv), "the cobblestone format does not accept --iv"));
  CHECK(contains(refusal("openssl", iv), "the openssl format does not accept --iv"));
  for (const std::string_view format : {"cobblestone", "openssl", "raw"})
    CHECK(
        contains(refusal(format, label), "format does not accept --label | formats that accept it: sealed"));
  CHECK(refusal("sealed", label) == "");
  CHECK(refusal("cobblestone", context) == "");
  CHECK(refusal("sealed", second_key) == "");
  CHECK(refusal("raw", iv) == "");
}

TEST_CASE("the raw format divides the stream into blocks and keeps its length") {
  const auto session = raw(some_iv);
  CHECK(session->unit_in() == 16);
  CHECK(session->unit_out() == 16);
  CHECK(parsed("") == "usage: secret.key is empty");
  for (const std::size_t size : {1, 15, 16, 17, 1 << 20}) {
    CHECK(session->output_size(size, false) == size);
    CHECK(session->output_size(size, true) == size);
  }
  CHECK(session->header().empty());
}

TEST_CASE("a raw job starts at the counter of its first block") {
  struct Case {
    std::string_view iv;
    std::uint64_t offset;
    std::string_view counter;
  };
  constexpr Case cases[] = {
      {"00112233445566778899aabbccddeeff", 0, "00112233445566778899aabbccddeeff"},
      {"00112233445566778899aabbccddeeff", 16, "00112233445566778899aabbccddef00"},
      {"00000000000000000000000000000000", 16 * 255, "000000000000000000000000000000ff"},
      {"00000000000000000000000000000000", 16 * 256, "00000000000000000000000000000100"},
      // Carries at 2^32, 2^64 and 2^128.
      {"000000000000000000000000fffffff0", 16 * 15, "000000000000000000000000ffffffff"},
      {"000000000000000000000000fffffff0", 16 * 16, "00000000000000000000000100000000"},
      {"0000000000000000fffffffffffffff0", 16 * 15, "0000000000000000ffffffffffffffff"},
      {"0000000000000000fffffffffffffff0", 16 * 17, "00000000000000010000000000000001"},
      {"00000000ffffffffffffffffffffffff", 16, "00000001000000000000000000000000"},
      {"fffffffffffffffffffffffffffffff0", 16 * 15, "ffffffffffffffffffffffffffffffff"},
      {"fffffffffffffffffffffffffffffff0", 16 * 16, "00000000000000000000000000000000"},
      {"fffffffffffffffffffffffffffffff0", 16 * 18, "00000000000000000000000000000002"},
      // Far into a long stream: block 2^32 + 1, and the last block that an offset can address.
      {"00000000000000000000000000000000", std::uint64_t{16} * 0x100000001,
       "00000000000000000000000100000001"},
      {"00000000000000000000000000000000", ~std::uint64_t{15}, "00000000000000000fffffffffffffff"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.iv, each.offset);
    CHECK(job_at(*raw(each.iv), each.offset).counter == counter_block(each.counter));
  }
}

TEST_CASE("a raw job has the spans of its piece and the session's key, for encryption and decryption") {
  const Bytes in = test_bytes(100);
  Bytes out(100);
  for (const bool decrypt : {false, true}) {
    SessionRequest request = request_for(24);
    request.decrypt = decrypt;
    const auto session = open_raw(std::move(request));
    const Job job = session->job({32, in, out});
    CHECK(job.operation == Operation::ctr);
    CHECK(job.in.data() == in.data());
    CHECK(job.in.size() == in.size());
    CHECK(job.out.data() == out.data());
    CHECK(job.out.size() == out.size());
    REQUIRE(job.key != nullptr);
    CHECK(job.key == job_at(*session, 0).key);
    CHECK(job.key->cipher == Cipher::aes_192);
    CHECK(difference(job.key->bytes.bytes(), test_bytes(24)) == "");
    CHECK(job.counter == counter_block("00112233445566778899aabbccddef01"));
  }
}

TEST_CASE("the raw format releases all output") {
  Bytes out(100);
  for (const bool last : {false, true}) {
    const Outcome outcome = raw(some_iv)->verify({0, out, out, last}, {});
    CHECK(outcome.released == 100);
    CHECK_FALSE(outcome.error.has_value());
  }
}

TEST_CASE("without a named cipher, the length of the key selects one") {
  CHECK(job_at(*open_raw(request_for(16)), 0).key->cipher == Cipher::aes_128);
  CHECK(job_at(*open_raw(request_for(24)), 0).key->cipher == Cipher::aes_192);
  CHECK(job_at(*open_raw(request_for(32)), 0).key->cipher == Cipher::aes_256);
}

TEST_CASE("a named cipher must fit the key") {
  for (const CipherInfo& named : ciphers)
    for (const CipherInfo& of_key : ciphers) {
      const std::string_view iv = some_iv.substr(0, 2 * named.ctr.value().iv_bytes);
      const std::string failure = refusal(request_for(of_key.key_bytes, iv, named.cipher));
      CAPTURE(named.name, of_key.key_bytes);
      if (named.key_bytes == of_key.key_bytes) {
        CHECK(failure == "");
      } else {
        CHECK(contains(failure, "usage: "));
        CHECK(contains(failure, named.name));
        CHECK(contains(failure, std::to_string(of_key.key_bytes)));
      }
    }
}

TEST_CASE("a cipher is found only by its exact name") {
  for (const CipherInfo& each : ciphers) {
    CHECK(find_cipher(each.name) == each.cipher);
    CHECK(info(each.cipher).name == each.name);
  }
  for (const std::string_view name : {"", "aes", "aes-1", "aes-1288", "AES-128", "Kuznyechik", "kuznyechi"})
    CHECK_FALSE(find_cipher(name).has_value());
}

TEST_CASE("the raw format without a key or an IV is a usage error that says what is missing") {
  CHECK(contains(refusal(request_for(0)), "usage: the raw format requires a key"));
  CHECK(contains(refusal(request_for(16, "")), "usage: the raw format requires --iv"));
  const auto error = error_of<UsageError>([] { open_raw(request_for(16, "")); });
  REQUIRE(error.has_value());
  CHECK_FALSE(error->hint().empty());
}

TEST_CASE("an IV with the wrong length or an invalid digit is a usage error") {
  for (const std::size_t digits : {1, 2, 16, 30, 31, 33, 34, 64}) {
    const std::string failure = refusal(request_for(16, std::string(digits, '0')));
    CAPTURE(digits);
    CHECK(contains(failure, "usage: --iv has " + std::to_string(digits) + " digits; the raw format with "));
  }
  for (const char bad : {'g', 'G', ' ', '/', ':', '@', '`', '\0', '\xff'})
    for (const std::size_t at : {0, 15, 31}) {
      std::string iv(32, 'a');
      iv[at] = bad;
      CHECK(contains(refusal(request_for(16, iv)),
                     "usage: --iv contains a character that is not a hexadecimal digit"));
    }
  std::string given_empty;
  SessionRequest request = request_for(16);
  request.iv = given_empty;
  CHECK(contains(refusal(std::move(request)), "usage: --iv has 0 digits"));
}

TEST_CASE("the IV of Kuznyechik is the upper half of the first counter block, whose lower half is zero") {
  const std::unique_ptr<Session> session = open_raw(request_for(32, "1234567890abcef0", Cipher::kuznyechik));
  CHECK(session->cipher() == Cipher::kuznyechik);
  CHECK(job_at(*session, 0).key->cipher == Cipher::kuznyechik);
  CHECK(job_at(*session, 0).counter == counter_block("1234567890abcef00000000000000000"));
  CHECK(job_at(*session, 16 * 258).counter == counter_block("1234567890abcef00000000000000102"));
}

TEST_CASE("an IV that is not half a block is a usage error with Kuznyechik") {
  for (const std::size_t digits : {1, 2, 8, 14, 15, 17, 18, 31, 32, 64}) {
    const std::string failure = refusal(request_for(32, std::string(digits, '0'), Cipher::kuznyechik));
    CAPTURE(digits);
    CHECK(contains(failure, "usage: --iv has " + std::to_string(digits) + " digits; the raw format with "));
    CHECK(contains(failure, "kuznyechik requires 16 "));
  }
  CHECK(contains(refusal(request_for(32, "1234567890abcefg", Cipher::kuznyechik)),
                 "usage: --iv contains a character that is not a hexadecimal digit"));
}

TEST_CASE("a format refuses a cipher that it does not support, and the hint lists the formats that do") {
  const auto refused = [](std::string_view format, Cipher cipher) {
    const auto error = error_of<UsageError>([&] {
      SessionRequest request;
      request.cipher = cipher;
      open_session(find_format(format), std::move(request));
    });
    REQUIRE(error.has_value());
    return error->what() + std::string(" | ") + error->hint();
  };
  CHECK(refused("sealed", Cipher::aes_128) ==
        "the sealed format does not support aes-128 | formats that support it: cobblestone, openssl, raw");
  CHECK(refused("cobblestone", Cipher::aes_192) ==
        "the cobblestone format does not support aes-192 | formats that support it: openssl, raw");
  CHECK(refused("openssl", Cipher::kuznyechik) ==
        "the openssl format does not support kuznyechik | formats that support it: sealed, raw");
}

TEST_CASE("formats that support only AES refuse other ciphers for encryption and decryption") {
  for (const std::string_view name : {"cobblestone", "openssl"})
    for (const bool decrypt : {false, true}) {
      SessionRequest request;
      request.decrypt = decrypt;
      request.cipher = Cipher::kuznyechik;
      if (name == "openssl")
        request.keyring.keys.push_back(passphrase_key(Bytes(1)));
      else
        request.keyring.keys.push_back(key_file(Bytes(32)));
      const std::string failure = failure_of([&] { open_session(find_format(name), std::move(request)); });
      CAPTURE(name, decrypt);
      CHECK(failure == "usage: the " + std::string(name) + " format does not support kuznyechik");
    }
}

TEST_CASE("an IV may be in uppercase") {
  CHECK(job_at(*raw("00112233445566778899AABBCCDDEEFF"), 0).counter == counter_block(some_iv));
  CHECK(job_at(*raw("00112233445566778899AaBbCcDdEeFf"), 0).counter == counter_block(some_iv));
}

TEST_CASE("a key whose length matches no cipher is a usage error") {
  for (const std::size_t size : {1, 15, 17, 33, 64}) CHECK(contains(refusal(request_for(size)), "usage: "));
}

// Hexadecimal digits ------------------------------------------------------------------------------

TEST_CASE("every pair of characters is decoded as hexadecimal or refused") {
  const auto value = [](int c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  unsigned wrong = 0;
  for (int high = 0; high < 256; ++high)
    for (int low = 0; low < 256; ++low) {
      const std::array pair{static_cast<char>(high), static_cast<char>(low)};
      std::array<std::byte, 1> out{};
      const bool good = parse_hex({pair.data(), 2}, out);
      const bool expected = value(high) >= 0 && value(low) >= 0;
      if (good != expected || (good && std::to_integer<int>(out[0]) != value(high) * 16 + value(low)))
        ++wrong;
    }
  CHECK(wrong == 0);
}

TEST_CASE("there must be exactly two hexadecimal digits for each byte") {
  std::array<std::byte, 2> out{};
  for (const std::string_view digits : {"", "0", "00", "000", "00000", "000000"})
    CHECK_FALSE(parse_hex(digits, out));
  CHECK(parse_hex("a1F0", out));
  CHECK(out == std::array{std::byte{0xa1}, std::byte{0xf0}});
  CHECK(parse_hex("", {}));
}

// Key files ---------------------------------------------------------------------------------------

TEST_CASE("a key file of 16, 24 or 32 bytes is the key") {
  for (const std::size_t size : {16, 24, 32}) {
    const Bytes contents = test_bytes(size, 200);
    CHECK(difference(parse_key(contents, "secret.key").bytes(), contents) == "");
    const Bytes zeros(size);
    CHECK(difference(parse_key(zeros, "secret.key").bytes(), zeros) == "");
  }
}

TEST_CASE("a raw key may end in bytes that are spaces or newlines") {
  for (const std::string_view end : {"\n", " ", "\r\n", "\n\n\n\n", "\t \n"}) {
    Bytes contents = test_bytes(32, 128);
    std::ranges::copy(to_bytes(end), contents.end() - static_cast<std::ptrdiff_t>(end.size()));
    CHECK(difference(parse_key(contents, "secret.key").bytes(), contents) == "");
  }
  CHECK(parsed(std::string(16, '\n')) == repeated("0a", 16));
}

TEST_CASE("a key file of 32, 48 or 64 hexadecimal digits is decoded") {
  for (const std::size_t size : {16, 24, 32}) {
    const std::string digits = repeated("0123456789abcdef", size / 8);
    CHECK(parsed(digits) == digits);
    CHECK(parsed(repeated("0123456789ABCDEF", size / 8)) == digits);
    CHECK(parsed(repeated("0123456789AbCdEf", size / 8)) == digits);
  }
}

TEST_CASE("spaces and newlines after the digits of a key are ignored") {
  const std::string digits = repeated("0123456789abcdef", 2);
  for (const std::string_view end : {"\n", "\r\n", " ", "\t", " \n", "\n\n\n", "                \n"})
    CHECK(parsed(digits + std::string(end)) == digits);
  CHECK(parsed(digits + std::string(4096 - 32, '\n')) == digits);
}

TEST_CASE("32 bytes that are all hexadecimal digits are a key of 16 bytes, not a raw key") {
  const std::string digits = repeated("0123456789abcdef", 2);
  CHECK(parsed(digits).size() == 32);
  CHECK(parsed(digits) == digits);
}

TEST_CASE("32 bytes that are not all hexadecimal digits are a raw key") {
  std::string text = repeated("0123456789abcdef", 2);
  text[31] = 'g';
  CHECK(parsed(text).size() == 64);
  text = std::string(24, 'z');
  CHECK(parsed(text) == repeated("7a", 24));
}

TEST_CASE("an invalid digit among 48 or 64, or before a newline, is an error that says so") {
  for (const std::size_t digits : {48, 64}) {
    for (const std::size_t at : {std::size_t{0}, digits / 2, digits - 1}) {
      std::string text(digits, '1');
      text[at] = 'g';
      CHECK(parsed(text) == "usage: the key in secret.key has " + std::to_string(digits) +
                                " characters, but not all are hexadecimal digits");
    }
  }
  std::string text(32, '1');
  text[5] = 'x';
  CHECK(contains(parsed(text + "\n"), "not all are hexadecimal digits"));
  CHECK(contains(parsed("0x" + std::string(62, '1')), "not all are hexadecimal digits"));
}

TEST_CASE("a key file of any other length is an error that names the file and the length") {
  CHECK(parsed("") == "usage: secret.key is empty");
  for (const std::size_t size : {1, 17, 23, 25, 31, 33, 47, 49, 63, 65, 128, 4095}) {
    const std::string key = "usage: the key in secret.key ", number = std::to_string(size);
    CAPTURE(size);
    CHECK(contains(parsed(std::string(size, 'x')), key + "has an invalid length of " + number + " bytes"));
    CHECK(contains(parsed(std::string(size, '1')), key + "has " + number + " hexadecimal digits"));
  }
  const auto error = error_of<UsageError>([] { parse("short"); });
  REQUIRE(error.has_value());
  CHECK(error->hint() == "a key is 16, 24 or 32 raw bytes, or 32, 48 or 64 hexadecimal digits");
}

TEST_CASE("spaces before or between the digits of a key are not ignored") {
  const std::string digits = repeated("0123456789abcdef", 2);
  CHECK(contains(parsed(" " + digits), "invalid length of 33"));
  CHECK(contains(parsed("\n" + digits + "\n"), "invalid length of 34"));
  CHECK(contains(parsed(digits.substr(0, 16) + " " + digits.substr(16)), "invalid length of 33"));
}

TEST_CASE("a key of 31 or 33 digits is not padded or truncated") {
  CHECK(contains(parsed(std::string(31, 'a') + "\n\n"), "has 31 hexadecimal digits"));
  CHECK(contains(parsed(std::string(33, 'a') + "\n"), "has 33 hexadecimal digits"));
}

TEST_CASE("a key file that is too long is an error that names the limit") {
  CHECK(contains(parsed(std::string(max_key_file_bytes + 1, '1')), "longer than 4096 bytes"));
  CHECK(contains(parsed(std::string(max_key_file_bytes + 1, '\0')), "longer than 4096 bytes"));
}

TEST_CASE("messages about keys do not show them") {
  const std::string failure = parsed("deadbeefdeadbeefdeadbeefdeadbee");
  CHECK(contains(failure, "usage: "));
  CHECK_FALSE(contains(failure, "dead"));
}

// Secret ------------------------------------------------------------------------------------------

TEST_CASE("a secret can be shrunk and moved") {
  Secret secret(100);
  CHECK(difference(secret.bytes(), Bytes(100)) == "");
  std::ranges::copy(test_bytes(100), secret.bytes().begin());
  const std::byte* const tail = secret.bytes().data() + 40;
  secret.shrink(40);
  CHECK(difference(secret.bytes(), test_bytes(40)) == "");
  CHECK(difference({tail, 60}, Bytes(60)) == "");
  Secret moved = std::move(secret);
  CHECK(difference(moved.bytes(), test_bytes(40)) == "");
  CHECK(Secret(0).bytes().empty());
  CHECK(Secret().size() == 0);
}

}  // namespace gpuaes
