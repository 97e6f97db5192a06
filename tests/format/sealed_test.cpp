// The formats with headers: sealed, cobblestone, openssl. A second implementation, written from
// gpuaes-stream(5), checks what they write and writes what they read. The lane is libcrypto's GCM, called
// directly.
#include "format/sealed.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cipher/modes/evp_aead.hpp"
#include "cipher/modes/mgm.hpp"
#include "cipher/modes/segments.hpp"
#include "format/cobblestone.hpp"
#include "format/formats.hpp"
#include "format/sessions.hpp"
#include "keys/kdf.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/keys.hpp"

namespace gpuaes {
namespace {

// A second implementation --------------------------------------------------------------------------

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Bytes part(const Bytes& bytes, std::size_t from, std::size_t size) {
  return {bytes.begin() + static_cast<std::ptrdiff_t>(from),
          bytes.begin() + static_cast<std::ptrdiff_t>(from + size)};
}

Bytes bytes_of(const Secret& secret) {
  return {secret.bytes().begin(), secret.bytes().end()};
}

Secret secret_of(std::span<const std::byte> bytes) {
  Secret secret(bytes.size());
  std::ranges::copy(bytes, secret.bytes().begin());
  return secret;
}

Bytes numbers(std::initializer_list<unsigned> values) {
  Bytes bytes;
  for (const unsigned each : values) bytes.push_back(static_cast<std::byte>(each));
  return bytes;
}

Bytes gcm_seal(const Bytes& key, const Nonce& nonce, const Bytes& plain) {
  Bytes sealed(plain.size() + tag_bytes);
  EvpAead(cipher_of(key.size()), key, EvpAead::Use::seal)
      .seal(nonce, {}, plain, std::span(sealed).first(plain.size()), std::span(sealed).last(tag_bytes));
  return sealed;
}

Bytes slot(unsigned type, const Bytes& body) {
  return numbers({type, static_cast<unsigned>(body.size() >> 8), static_cast<unsigned>(body.size() & 255)}) +
         body;
}

const Bytes file_key = test_bytes(32, 77);
const Bytes key_a = test_bytes(32, 1), key_b = test_bytes(32, 2);
const Bytes words = to_bytes("correct horse");

Bytes key_slot(const Bytes& key, const Bytes& wrapped = file_key) {
  const Bytes salt = test_bytes(16, 33);
  const Bytes kek = bytes_of(hkdf_sha512(key, salt, to_bytes("gpuaes-stream/1 key file"), 32));
  return slot(1, salt + gcm_seal(kek, {}, wrapped));
}

// Always with N = 2^10, the minimum, regardless of `parameters`.
Bytes passphrase_slot(const Bytes& passphrase, const Bytes& parameters = numbers({10, 8, 1}),
                      const Bytes& wrapped = file_key) {
  const Bytes salt = test_bytes(16, 44);
  const Bytes kek = bytes_of(scrypt(passphrase, to_bytes("gpuaes-stream/1 passphrase") + salt, 10, 8, 1, 32));
  return slot(2, parameters + salt + gcm_seal(kek, {}, wrapped));
}

Bytes with_mac(const Bytes& header) {
  const Bytes mac_key = bytes_of(hkdf_expand_sha512(file_key, to_bytes("gpuaes-stream/1 header"), 64));
  const auto mac = hmac_sha512(mac_key, header);
  return header + Bytes(mac.begin(), mac.begin() + 32);
}

const Bytes magic = to_bytes("gpuaes-stream/1\n");

Bytes begin_of(const Bytes& slots, unsigned count, const Bytes& suite = numbers({1})) {
  return magic + suite +
         numbers(
             {count, static_cast<unsigned>(slots.size() >> 8), static_cast<unsigned>(slots.size() & 255)}) +
         slots;
}

// The salt, commitment and segments of a message.
Bytes message(const Bytes& input_key, const Bytes& context, const Bytes& plain) {
  const bool is_256 = input_key.size() == 32;
  const Bytes salt = test_bytes(24, 55);
  const Bytes label = to_bytes(is_256 ? "c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM"
                                      : "c2sp.org/chunked-encryption@v1+AEAD_AES_128_GCM");
  const std::size_t key_size = input_key.size();
  const Bytes derived =
      bytes_of(hkdf_expand_sha512(input_key, label + Bytes(1) + salt + context, key_size + 44));
  Nonce base{{}, 12};
  std::ranges::copy(part(derived, key_size, 12), std::as_writable_bytes(std::span(base.bytes)).begin());
  Bytes out = salt + part(derived, key_size + 12, 32);
  for (std::size_t i = 0; i <= plain.size() / 16384; ++i) {
    Nonce nonce = base;
    nonce.bytes[11] ^= static_cast<std::uint8_t>(i);
    const std::size_t size = std::min<std::size_t>(plain.size() - 16384 * i, 16384);
    out = out + gcm_seal(part(derived, 0, key_size), nonce, part(plain, 16384 * i, size));
  }
  return out;
}

Bytes file_of(const Bytes& slots, unsigned count, const Bytes& plain = to_bytes("plaintext"),
              const Bytes& label = {}) {
  return with_mac(begin_of(slots, count)) + message(file_key, magic + numbers({1}) + label, plain);
}

// A minimal filter ---------------------------------------------------------------------------------

SessionRequest request_with(const std::vector<Bytes>& keys, std::optional<Bytes> passphrase = {},
                            int* asked = nullptr) {
  SessionRequest request;
  for (const Bytes& key : keys)
    request.keyring.keys.push_back({.kind = KeyKind::key_file, .secret = secret_of(key)});
  if (passphrase)
    request.keyring.keys.push_back(
        {.kind = KeyKind::passphrase,
         .passphrase = [bytes = *passphrase, asked](const std::string&, bool again) -> std::optional<Secret> {
           if (again) return std::nullopt;
           if (asked != nullptr) ++*asked;
           return secret_of(bytes);
         }});
  return request;
}

// Reads `bytes` in steps of varying size.
HeaderReader reader_of(const Bytes& bytes, std::size_t& at) {
  return HeaderReader([&bytes, &at](std::span<std::byte> room) {
    const std::size_t count = std::min({room.size(), bytes.size() - at, at % 7 + 1});
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, room.begin());
    at += count;
    return count;
  });
}

// Does the work of a lane. Returns the first bad segment.
std::optional<std::size_t> run(const Job& job) {
  if (job.operation == Operation::ctr) {
    std::ranges::copy(libcrypto_ctr(job.key->bytes.bytes(), job.counter, job.in), job.out.begin());
    return std::nullopt;
  }
  const bool is_open = job.operation == Operation::open;
  const bool is_mgm = job.key->cipher == Cipher::kuznyechik;
  std::optional<EvpAead> gcm;
  std::optional<mgm::Mgm> mgm;
  if (is_mgm)
    mgm.emplace(job.key->bytes.bytes());
  else
    gcm.emplace(job.key->cipher, job.key->bytes.bytes(), is_open ? EvpAead::Use::open : EvpAead::Use::seal);
  for (std::size_t i = 0; i < count_segments(job); ++i) {
    if (is_open) {
      const auto [nonce, sealed, plain] = segment_to_open(job, i);
      const auto text = sealed.first(plain.size()), tag = sealed.last(tag_bytes);
      const bool good =
          is_mgm ? mgm->open(nonce, job.aad, text, tag, plain) : gcm->open(nonce, job.aad, text, tag, plain);
      if (!good) return i;
    } else {
      const auto [nonce, sealed, plain] = segment_to_seal(job, i);
      const auto text = sealed.first(plain.size()), tag = sealed.last(tag_bytes);
      is_mgm ? mgm->seal(nonce, job.aad, plain, text, tag) : gcm->seal(nonce, job.aad, plain, text, tag);
    }
  }
  return std::nullopt;
}

struct Result {
  Bytes out;
  std::string failure;
};

// Processes the body in pieces of `units` units. The last piece is shorter, and may be empty.
Result process(const Session& session, const Bytes& body, std::size_t units = 2) {
  Result result;
  const std::size_t piece_bytes = units * session.unit_in();
  for (std::size_t at = 0;; at += piece_bytes) {
    const bool last = body.size() - at < piece_bytes;
    const Bytes in = part(body, at, last ? body.size() - at : piece_bytes);
    Bytes out(session.output_size(in.size(), last));
    const Piece piece{at, in, out, last};
    const Outcome outcome = session.verify(piece, run(session.job(piece)));
    out.resize(outcome.released);
    result.out = result.out + out;
    if (outcome.error) result.failure = failure_of([&] { throw *outcome.error; });
    if (last || outcome.error) return result;
  }
}

Bytes encrypt(std::string_view format, SessionRequest request, const Bytes& plain) {
  const auto session = open_session(find_format(format), std::move(request));
  return Bytes(session->header().begin(), session->header().end()) + process(*session, plain).out;
}

Result decrypt(std::string_view format, SessionRequest request, const Bytes& file) {
  Result result;
  std::size_t at = 0;
  HeaderReader input = reader_of(file, at);
  request.decrypt = true;
  request.input = &input;
  std::unique_ptr<Session> session;
  result.failure = failure_of([&] { session = open_session(find_format(format), std::move(request)); });
  if (!session) return result;
  REQUIRE(at == input.taken());
  REQUIRE(session->header().empty());
  return process(*session, part(file, at, file.size() - at));
}

}  // namespace

// Sealed: writing ----------------------------------------------------------------------------------

TEST_CASE("a sealed header has the layout in gpuaes-stream(5)") {
  const Bytes plain = test_bytes(100);
  const Bytes file = encrypt("sealed", request_with({key_a, key_b}), plain);
  constexpr std::size_t slots_bytes = 2 * 67;
  REQUIRE(file.size() == 108 + slots_bytes + 100 + 16);
  CHECK(part(file, 0, 16) == magic);
  CHECK(part(file, 16, 4) == numbers({1, 2, 0, slots_bytes}));

  Bytes unwrapped;
  for (const auto& [at, key] : {std::pair{20, key_a}, std::pair{20 + 67, key_b}}) {
    const Bytes one = part(file, static_cast<std::size_t>(at), 67);
    CHECK(part(one, 0, 3) == numbers({1, 0, 64}));
    const Bytes kek = bytes_of(hkdf_sha512(key, part(one, 3, 16), to_bytes("gpuaes-stream/1 key file"), 32));
    Bytes opened(32);
    CHECK(EvpAead(Cipher::aes_256, kek, EvpAead::Use::open)
              .open({}, {}, part(one, 19, 32), part(one, 51, 16), opened));
    CHECK((unwrapped.empty() || unwrapped == opened));
    unwrapped = opened;
  }
  const Bytes mac_key = bytes_of(hkdf_expand_sha512(unwrapped, to_bytes("gpuaes-stream/1 header"), 64));
  const auto mac = hmac_sha512(mac_key, part(file, 0, 20 + slots_bytes));
  CHECK(part(file, 20 + slots_bytes, 32) == Bytes(mac.begin(), mac.begin() + 32));
  const Bytes info = to_bytes("c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM") + Bytes(1) +
                     part(file, 52 + slots_bytes, 24) + part(file, 0, 17);
  CHECK(part(bytes_of(hkdf_expand_sha512(unwrapped, info, 76)), 44, 32) == part(file, 76 + slots_bytes, 32));
  CHECK(decrypt("sealed", request_with({key_b}), file).out == plain);
}

TEST_CASE("all random fields are fresh, and a header with one key-file slot is 175 bytes long") {
  const Bytes a = encrypt("sealed", request_with({key_a}), {}),
              b = encrypt("sealed", request_with({key_a}), {});
  REQUIRE(a.size() == 175 + 16);
  REQUIRE(b.size() == a.size());
  CHECK(part(a, 0, 23) == part(b, 0, 23));
  for (const auto& [at, size] : {std::pair{23, 16}, std::pair{39, 48}, std::pair{87, 32}, std::pair{119, 24},
                                 std::pair{143, 32}, std::pair{175, 16}})
    CHECK(part(a, static_cast<std::size_t>(at), static_cast<std::size_t>(size)) !=
          part(b, static_cast<std::size_t>(at), static_cast<std::size_t>(size)));
}

TEST_CASE("a new passphrase slot has N = 2^17, r = 8 and p = 1, is the last slot, and opens the file") {
  int asked = 0;
  const Bytes file = encrypt("sealed", request_with({key_a}, words, &asked), to_bytes("plain"));
  CHECK(asked == 1);
  CHECK(part(file, 16, 4) == numbers({1, 2, 0, 67 + 70}));
  CHECK(part(file, 20 + 67, 6) == numbers({2, 0, 67, 17, 8, 1}));
  CHECK(decrypt("sealed", request_with({}, words), file).out == to_bytes("plain"));
  CHECK(decrypt("sealed", request_with({key_a}), file).out == to_bytes("plain"));
  CHECK(contains(decrypt("sealed", request_with({}, to_bytes("correct hors")), file).failure,
                 "key: the passphrase does not open the input"));
}

TEST_CASE("the sealed format reports what it requires") {
  for (const bool is_decrypt : {false, true}) {
    const auto refusal = [&](SessionRequest request) {
      request.decrypt = is_decrypt;
      return failure_of([&] { open_session(find_format("sealed"), std::move(request)); });
    };
    CHECK(contains(refusal(request_with({})), "usage: the sealed format requires a key or a passphrase"));
    for (const std::size_t size : {16, 24})
      CHECK(contains(refusal(request_with({key_a, test_bytes(size)})),
                     "usage: the sealed format requires a key of 32 bytes; the key in this one is " +
                         std::to_string(size) + " bytes long"));
    for (const Cipher cipher : {Cipher::aes_128, Cipher::aes_192}) {
      SessionRequest request = request_with({key_a});
      request.cipher = cipher;
      CHECK(refusal(std::move(request)) ==
            "usage: the sealed format does not support " + std::string(info(cipher).name));
    }
  }
  SessionRequest request = request_with({key_a});
  request.cipher = Cipher::aes_256;
  CHECK(failure_of([&] { open_sealed(std::move(request)); }) == "");
}

TEST_CASE("a file has at most 32 slots, and any of its keys opens it") {
  std::vector<Bytes> keys;
  for (std::size_t i = 0; i < 32; ++i) keys.push_back(test_bytes(32, 100 + i));
  const Bytes file = encrypt("sealed", request_with(keys), to_bytes("plain"));
  CHECK(part(file, 17, 3) == numbers({32, 32 * 67 / 256, 32 * 67 % 256}));
  for (const Bytes& key : keys) CHECK(decrypt("sealed", request_with({key}), file).out == to_bytes("plain"));
  int asked = 0;
  CHECK(contains(failure_of([&] { open_sealed(request_with(keys, words, &asked)); }),
                 "usage: the sealed format allows at most 32 keys, recipients and passphrases in total"));
  CHECK(asked == 0);
  keys.push_back(key_a);
  CHECK(contains(failure_of([&] { open_sealed(request_with(keys)); }), "usage: "));
  CHECK(decrypt("sealed", request_with(keys), file).out == to_bytes("plain"));
}

// Sealed: reading ----------------------------------------------------------------------------------

TEST_CASE("a file from the second implementation opens") {
  const Bytes plain = test_bytes(40000);
  const Bytes file = file_of(key_slot(key_a) + passphrase_slot(words), 2, plain);
  CHECK(difference(decrypt("sealed", request_with({key_a}), file).out, plain) == "");
  CHECK(difference(decrypt("sealed", request_with({}, words), file).out, plain) == "");
  CHECK(difference(decrypt("sealed", request_with({key_b}, words), file).out, plain) == "");
  CHECK(difference(decrypt("sealed", request_with({key_b, key_a}), file).out, plain) == "");
}

TEST_CASE("the context ends with the label, and a file opens only with its own label") {
  const auto request = [](std::optional<std::string> label) {
    SessionRequest with_key = request_with({key_a});
    with_key.label = std::move(label);
    return with_key;
  };
  const Bytes plain = test_bytes(20000);
  const std::string longest(255, 'x');
  for (const std::string& label : {std::string("a"), std::string("caf\xc3\xa9"), longest}) {
    const Bytes file = file_of(key_slot(key_a), 1, plain, to_bytes(label));
    CHECK(difference(decrypt("sealed", request(label), file).out, plain) == "");
    CHECK(difference(decrypt("sealed", request(label), encrypt("sealed", request(label), plain)).out,
                     plain) == "");
    for (const std::optional<std::string>& other :
         {std::optional<std::string>(), std::optional(label + "a"), std::optional(std::string("A"))}) {
      const Result result = decrypt("sealed", request(other), file);
      CHECK(result.failure.starts_with(
          "auth: the input is corrupt at byte 119, in its header, or was sealed with a "
          "different label; nothing was written"));
      CHECK(result.out.empty());
    }
  }
  CHECK(contains(decrypt("sealed", request("a"), file_of(key_slot(key_a), 1)).failure, "a different label"));
  CHECK(encrypt("sealed", request(longest), plain).size() == encrypt("sealed", request({}), plain).size());
}

TEST_CASE("the passphrase is asked for only if it is needed and can help") {
  int asked = 0;
  const Bytes with_slot = file_of(passphrase_slot(words) + key_slot(key_a), 2);
  CHECK(decrypt("sealed", request_with({key_a}, words, &asked), with_slot).failure == "");
  CHECK(asked == 0);
  CHECK(decrypt("sealed", request_with({key_b}, words, &asked), with_slot).failure == "");
  CHECK(asked == 1);
  const Bytes without = file_of(key_slot(key_a), 1);
  CHECK(contains(decrypt("sealed", request_with({key_b}, words, &asked), without).failure,
                 "key: none of the given keys opens the input"));
  CHECK(contains(decrypt("sealed", request_with({}, words, &asked), without).failure,
                 "key: the input was sealed with a key file, and none was given"));
  CHECK(asked == 1);
}

TEST_CASE("a secret that is wrong or has no slot is a key error that names its kind") {
  const Bytes both = file_of(key_slot(key_a) + passphrase_slot(words), 2);
  const auto failure = [](const Bytes& file, std::vector<Bytes> keys, std::optional<Bytes> passphrase = {}) {
    return decrypt("sealed", request_with(keys, passphrase), file).failure;
  };
  CHECK(failure(both, {key_b}) == "key: none of the given keys opens the input");
  CHECK(failure(both, {}, key_a) == "key: the passphrase does not open the input");
  CHECK(failure(both, {key_b}, key_b) == "key: none of the given secrets opens the input");
  const Bytes locked = file_of(passphrase_slot(words), 1), foreign = file_of(slot(0x42, {}), 1);
  CHECK(failure(locked, {key_a}) == "key: the input was sealed with a passphrase, and none was given");
  const std::string unknown = "key: the input has only key slots that this version does not support";
  CHECK(failure(foreign, {key_a}) == unknown);
  CHECK(failure(foreign, {}, words) == unknown);
  CHECK(failure(foreign, {key_a}, words) == unknown);
}

TEST_CASE("slots of unknown types are skipped or refused") {
  for (const unsigned type : {0x05, 0x06, 0x7f})
    for (const std::size_t size : {0, 1, 64, 300}) {
      const Bytes other = slot(type, test_bytes(size));
      CHECK(decrypt("sealed", request_with({key_a}), file_of(other + key_slot(key_a) + other, 3)).failure ==
            "");
    }
  CHECK(decrypt("sealed", request_with({key_a}), file_of(slot(3, Bytes(80)) + key_slot(key_a), 2)).failure ==
        "");
  CHECK(
      decrypt("sealed", request_with({key_a}), file_of(slot(4, Bytes(1168)) + key_slot(key_a), 2)).failure ==
      "");
  for (const unsigned type : {0x00, 0x80, 0xff})
    CHECK(contains(
        decrypt("sealed", request_with({key_a}), file_of(key_slot(key_a) + slot(type, Bytes(64)), 2)).failure,
        "version: the input has a slot of type "));
}

TEST_CASE("a slot with the wrong size for its type is refused even if another slot opens the file") {
  for (const auto& [type, size] :
       {std::pair{1u, 64u}, std::pair{2u, 67u}, std::pair{3u, 80u}, std::pair{4u, 1168u}})
    for (const unsigned wrong : {0u, 1u, size - 1, size + 1, 2 * size}) {
      const Bytes file = file_of(key_slot(key_a) + slot(type, Bytes(wrong)), 2);
      CHECK(decrypt("sealed", request_with({key_a}), file).failure ==
            "auth: the input is corrupt at byte 88, in its header: a slot of type 0" + std::to_string(type) +
                " has " + std::to_string(wrong) + " bytes instead of " + std::to_string(size) +
                "; nothing was written");
    }
}

TEST_CASE("counts and sizes that do not match are refused") {
  const auto failure = [](const Bytes& slots, unsigned count) {
    return decrypt("sealed", request_with({key_a}), file_of(slots, count)).failure;
  };
  const Bytes one = key_slot(key_a);
  const auto corrupt = [](std::size_t at, const std::string& what) {
    return "auth: the input is corrupt at byte " + std::to_string(at) + ", in its header: " + what +
           "; nothing was written";
  };
  const std::string too_long = "the slots exceed their stated size",
                    too_short = "the slots do not fill their stated size";
  CHECK(failure(one, 0) == corrupt(17, "it has 0 key slots; 1 to 32 are allowed"));
  CHECK(failure({}, 0) == corrupt(17, "it has 0 key slots; 1 to 32 are allowed"));
  CHECK(failure(one, 33) == corrupt(17, "it has 33 key slots; 1 to 32 are allowed"));
  CHECK(failure(one, 255) == corrupt(17, "it has 255 key slots; 1 to 32 are allowed"));
  CHECK(failure(one, 2) == corrupt(87, too_long));
  CHECK(failure({}, 1) == corrupt(20, too_long));
  CHECK(failure(one + one, 1) == corrupt(87, too_short));
  CHECK(failure(one + numbers({5}), 1) == corrupt(87, too_short));
  CHECK(failure(one + numbers({5, 0}), 2) == corrupt(87, too_long));
  CHECK(failure(one + numbers({5, 0, 1}), 2) == corrupt(87, too_long));
  CHECK(failure(one + numbers({5, 0xff, 0xff}), 2) == corrupt(87, too_long));
  CHECK(failure(one + numbers({5, 0, 0}), 2) == "");
  CHECK(failure(one + slot(5, Bytes(0xffff - 67 - 3)), 2) == "");
}

TEST_CASE("slots that cannot be combined are refused") {
  const auto failure = [](const Bytes& slots, unsigned count) {
    return decrypt("sealed", request_with({key_a}, words), file_of(slots, count)).failure;
  };
  const Bytes a = passphrase_slot(words), b = passphrase_slot(to_bytes("other"));
  CHECK(contains(failure(a + key_slot(key_a) + b, 3),
                 "auth: the input is corrupt at byte 157, in its header: there is a second passphrase slot"));
  CHECK(failure(a + slot(3, Bytes(80)), 2) ==
        "auth: the input is corrupt at byte 90, in its header: there are slots for both a passphrase and a "
        "recipient; nothing was written");
  CHECK(
      contains(failure(slot(4, Bytes(1168)) + a, 2), "at byte 20, in its header: there are slots for both"));
}

TEST_CASE("scrypt parameters are checked only for a passphrase, before it is asked for") {
  std::vector<Bytes> absurd;
  for (const unsigned log2_n : {0, 1, 9, 21, 31, 32, 63, 64, 255}) absurd.push_back(numbers({log2_n, 8, 1}));
  for (const unsigned other : {0, 1, 7, 9, 255}) absurd.push_back(numbers({10, other, 1}));
  for (const unsigned other : {0, 2, 8, 255}) absurd.push_back(numbers({10, 8, other}));
  for (const Bytes& parameters : absurd) {
    int asked = 0;
    const Bytes file = file_of(passphrase_slot(words, parameters) + key_slot(key_a), 2);
    CHECK(decrypt("sealed", request_with({key_a}, words, &asked), file).failure == "");
    CHECK(contains(decrypt("sealed", request_with({key_b}), file).failure, "key: "));
    CHECK(contains(decrypt("sealed", request_with({key_b}, words, &asked), file).failure,
                   "auth: the input is corrupt at byte 23, in its header: the scrypt parameters log2 N = "));
    CHECK(asked == 0);
  }
}

TEST_CASE("a slot copied from another file does not open the file") {
  const Bytes other_key = test_bytes(32, 123);
  const Bytes foreign = key_slot(key_b, other_key);
  // Copied without knowing the file key: the header MAC is that of the original header.
  Bytes file = begin_of(key_slot(key_a) + foreign, 2);
  file = file + part(with_mac(begin_of(key_slot(key_a), 1)), 87, 32) +
         message(file_key, magic + numbers({1}), to_bytes("plaintext"));
  for (const Bytes& key : {key_a, key_b})
    CHECK(contains(
        decrypt("sealed", request_with({key}), file).failure,
        "auth: the input is corrupt at byte 154, in its header: the header or its MAC was modified"));
  // Copied with a valid header MAC: the file key in the slot does not match it.
  file = file_of(foreign + key_slot(key_a), 2);
  CHECK(contains(decrypt("sealed", request_with({key_b}), file).failure,
                 "auth: the input is corrupt at byte 154"));
  CHECK(decrypt("sealed", request_with({key_b, key_a}), file).failure == "");
  // If a key has two slots, the one that opens counts. A passphrase can open a file that a key does not.
  file = file_of(key_slot(key_a, other_key) + key_slot(key_a), 2);
  CHECK(decrypt("sealed", request_with({key_a}), file).failure == "");
  file = file_of(key_slot(key_a, other_key) + passphrase_slot(words), 2);
  CHECK(decrypt("sealed", request_with({key_a}, words), file).failure == "");
}

TEST_CASE("a flipped bit anywhere in the header causes the error of its field") {
  const Bytes good = file_of(key_slot(key_a), 1);
  REQUIRE(good.size() > 175);
  const auto expected = [](std::size_t at, unsigned value) -> std::string {
    if (at == 14) return value >= '0' && value <= '9' ? "version" : "auth";
    if (at == 16) return value >= 1 && value <= 4 ? "auth" : "version";
    if (at == 20) return value == 0 || value >= 0x80 ? "version" : value == 3 ? "auth" : "key";
    return at >= 23 && at < 87 ? "key" : "auth";
  };
  std::string wrong;
  for (std::size_t bit = 0; bit < 175 * 8; ++bit) {
    Bytes file = good;
    file[bit / 8] ^= std::byte{1} << bit % 8;
    const Result result = decrypt("sealed", request_with({key_a}), file);
    const std::string kind = result.failure.substr(0, result.failure.find(':'));
    if (kind != expected(bit / 8, std::to_integer<unsigned>(file[bit / 8])) || !result.out.empty())
      wrong += std::to_string(bit / 8) + ": " + result.failure + "\n";
  }
  CHECK(wrong == "");
}

TEST_CASE("a truncated header is an authentication error, and no plaintext is released") {
  for (const Bytes& slots : {key_slot(key_a), key_slot(key_a) + passphrase_slot(words)}) {
    const Bytes good = file_of(slots, slots.size() > 67 ? 2 : 1, {});
    const std::size_t header = 108 + slots.size();
    REQUIRE(good.size() == header + 16);
    for (std::size_t size = 0; size < good.size(); ++size) {
      CAPTURE(size);
      const Result result = decrypt("sealed", request_with({key_a}), part(good, 0, size));
      CHECK(result.out.empty());
      if (size < 16)
        CHECK(
            contains(result.failure, "auth: the input is not in the sealed format: it does not begin with "));
      else if (size < header)
        CHECK(result.failure == "auth: the input is truncated after byte " + std::to_string(size) +
                                    ", in its header; nothing was written");
      else
        CHECK(contains(result.failure,
                       "auth: the input is truncated after byte " + std::to_string(size) + "; 0 "));
    }
    CHECK(decrypt("sealed", request_with({key_a}), good).failure == "");
  }
}

TEST_CASE("other versions and suites are distinguished from input that is not in the sealed format") {
  const auto failure = [](const Bytes& file) {
    return decrypt("sealed", request_with({key_a}), file).failure;
  };
  const Bytes rest(200);
  for (const std::string_view begin : {"gpuaes-stream/2\n", "gpuaes-stream/0\n", "gpuaes-stream/9\n",
                                       "gpuaes-stream/10", "gpuaes-stream/99"})
    CHECK(contains(failure(to_bytes(begin) + rest),
                   "version: the input uses a version of the sealed format other than 1"));
  for (const std::string_view begin :
       {"gpuaes-stream/1\r", "gpuaes-stream/1 ", "gpuaes-stream/x\n", "gpuaes-stream/\n1", "gpuaes-stream/2x",
        "gpuaes-stream/01", "gpuaes_stream/1\n", "GPUAES-STREAM/1\n", "", "gpuaes-stream/2",
        "gpuaes-stream/"})
    CHECK(contains(
        failure(begin.size() < 16 ? to_bytes(begin) : to_bytes(begin) + rest),
        "auth: the input is not in the sealed format: it does not begin with 'gpuaes-stream/1' and a "
        "newline"));
  for (const auto& [suite, name] : {std::pair{0u, "00"}, std::pair{5u, "05"}, std::pair{255u, "ff"}})
    CHECK(contains(failure(magic + numbers({suite})),
                   std::string("version: the input uses cipher suite ") + name));
}

// Segments -----------------------------------------------------------------------------------------

TEST_CASE("segments of any size are sealed and opened again, in pieces of any size") {
  for (const std::size_t size : {0, 1, 16, 16383, 16384, 16385, 32768, 40000, 49152, 65535, 65536}) {
    CAPTURE(size);
    const Bytes plain = test_bytes(size);
    const Bytes file = encrypt("cobblestone", request_with({file_key}), plain);
    CHECK(file.size() == 56 + size + 16 * (size / 16384 + 1));
    const Bytes by_hand = message(file_key, {}, plain);
    for (const std::size_t units : {1, 2, 3, 100}) {
      SessionRequest request = request_with({file_key});
      std::size_t at = 0;
      HeaderReader input = reader_of(by_hand, at);
      request.decrypt = true;
      request.input = &input;
      const auto session = open_cobblestone(std::move(request));
      CHECK(session->unit_in() == 16400);
      CHECK(session->unit_out() == 16384);
      const Result result = process(*session, part(by_hand, at, by_hand.size() - at), units);
      CHECK(result.failure == "");
      CHECK(difference(result.out, plain) == "");
    }
    CHECK(difference(decrypt("cobblestone", request_with({file_key}), file).out, plain) == "");
  }
}

TEST_CASE("truncation anywhere is detected, and complete segments before it are released") {
  const Bytes plain = test_bytes(40000);
  const Bytes file = message(file_key, {}, plain);
  const auto failure_at = [&](std::size_t body, std::size_t written, std::string_view how, std::size_t at) {
    const Result result = decrypt("cobblestone", request_with({file_key}), part(file, 0, 56 + body));
    CAPTURE(body);
    CHECK(result.failure == "auth: the input is " + std::string(how) + " byte " + std::to_string(56 + at) +
                                "; " + std::to_string(written) +
                                " bytes of plaintext before that were verified");
    CHECK(difference(result.out, part(plain, 0, written)) == "");
  };
  for (const std::size_t whole : {0, 1, 2})
    for (const std::size_t more : {0, 1, 15}) {
      const std::size_t body = whole * 16400 + more;
      failure_at(body, whole * 16384, "truncated after", body);
    }
  for (const std::size_t whole : {0, 1})
    for (const std::size_t more : {16, 17, 8000, 16383, 16384, 16399})
      failure_at(whole * 16400 + more, whole * 16384, "corrupt or truncated at", whole * 16400);
  const std::size_t end = file.size() - 56;
  failure_at(end - 1, 32768, "corrupt or truncated at", 32800);
  CHECK(decrypt("cobblestone", request_with({file_key}), file).failure == "");
}

TEST_CASE("the stream stops before a bad segment at any position") {
  const Bytes plain = test_bytes(5 * 16384 + 10);
  const Bytes file = message(file_key, {}, plain);
  const auto check = [&](const Bytes& bad, std::size_t segment, std::string_view how = "corrupt") {
    const Result result = decrypt("cobblestone", request_with({file_key}), bad);
    CHECK(contains(result.failure, "auth: the input is " + std::string(how) + " at byte " +
                                       std::to_string(56 + 16400 * segment) + "; " +
                                       std::to_string(16384 * segment) + " bytes "));
    CHECK(difference(result.out, part(plain, 0, 16384 * segment)) == "");
  };
  for (std::size_t segment = 0; segment < 6; ++segment)
    for (const std::size_t at : {0, 9, 20, 25}) {
      Bytes bad = file;
      bad[56 + segment * 16400 + (segment < 5 && at >= 20 ? 16384 + at - 20 : at)] ^= std::byte{1};
      check(bad, segment, segment < 5 ? "corrupt" : "corrupt or truncated");
    }
  const auto segment = [&](std::size_t i) { return part(file, 56 + i * 16400, i < 5 ? 16400 : 26); };
  const Bytes head = part(file, 0, 56);
  check(head + segment(1) + segment(0) + segment(2) + segment(3) + segment(4) + segment(5), 0);
  check(head + segment(0) + segment(1) + segment(1) + segment(3) + segment(4) + segment(5), 2);
  check(head + segment(0) + segment(2) + segment(3) + segment(4) + segment(5), 1);
  check(head + segment(0) + segment(5), 1, "corrupt or truncated");
}

TEST_CASE("bytes after the end of a stream are reported with its end, and its last segment is not released") {
  for (const std::size_t size : {0, 1, 16383, 16384, 40000}) {
    const Bytes plain = test_bytes(size), file = message(file_key, {}, plain);
    for (const Bytes& more : {numbers({0}), Bytes(16), Bytes(16384), Bytes(16400), Bytes(100000), file}) {
      CAPTURE(size, more.size());
      const Result result = decrypt("cobblestone", request_with({file_key}), file + more);
      const std::size_t released = size / 16384 * 16384;
      CHECK(result.failure == "auth: the stream ends at byte " + std::to_string(file.size()) +
                                  ", but the input has trailing bytes; " + std::to_string(released) +
                                  " bytes of plaintext before the last segment were verified");
      CHECK(difference(result.out, part(plain, 0, released)) == "");
    }
  }
}

TEST_CASE("a session uses offsets in the whole stream") {
  const auto session = make_segment_session({.decrypt = true,
                                             .key = {Cipher::aes_256, secret_of(file_key)},
                                             .base_nonce = {{}, 12},
                                             .place = {.input_bytes = 175}});
  CHECK(session->output_size(0, true) == 0);
  CHECK(session->output_size(15, true) == 0);
  CHECK(session->output_size(16, true) == 0);
  CHECK(session->output_size(17, true) == 1);
  CHECK(session->output_size(16400, false) == 16384);
  CHECK(session->output_size(16400 + 15, true) == 16384);
  CHECK(session->output_size(16400 + 16, true) == 16384);
  const Bytes in(3 * 16400 + 100);
  Bytes out(3 * 16384 + 84);
  const Piece piece{std::uint64_t{16400} << 30, in, out, true};
  CHECK(session->job(piece).first_segment == std::uint64_t{1} << 30);
  CHECK(session->verify(piece, {}).released == out.size());
  CHECK_FALSE(session->verify(piece, {}).error.has_value());
  const Outcome bad = session->verify(piece, 2);
  CHECK(bad.released == 2 * 16384);
  REQUIRE(bad.error.has_value());
  CHECK(std::string(bad.error->what()) ==
        "the input is corrupt at byte 17609365946575; 17592186077184 bytes of plaintext before that were "
        "verified");
  CHECK(contains(session->verify(piece, 3).error->what(),
                 "the input is corrupt or truncated at byte 17609365962975; "));
  CHECK(session->verify(piece, 3).released == 3 * 16384);
  // A truncated piece may also have a bad segment.
  const Piece cut{0, std::span(in).first(16400 + 3), std::span(out).first(16384), true};
  CHECK(session->job(cut).in.size() == 16400);
  CHECK(contains(session->verify(cut, 0).error->what(), "corrupt at byte 175; 0 "));
  CHECK(contains(session->verify(cut, {}).error->what(), "truncated after byte 16578; 16384 "));
}

TEST_CASE("the suite of Kuznyechik matches gpuaes-stream(5)") {
  const Bytes header = with_mac(begin_of(key_slot(key_a), 1, numbers({2})));
  const Bytes salt = test_bytes(24, 55), context = magic + numbers({2});
  const Bytes derived = bytes_of(hkdf_expand_sha512(
      file_key, to_bytes("gpuaes-stream/1+KUZNYECHIK_MGM") + Bytes(1) + salt + context, 80));
  const mgm::Mgm mgm(part(derived, 0, 32));
  const Bytes plain = test_bytes(2 * 16384 + 100);
  Bytes file = header + salt + part(derived, 48, 32);
  for (std::size_t i = 0; i < 3; ++i) {
    Nonce nonce{{}, 16};
    std::ranges::copy(part(derived, 32, 16), std::as_writable_bytes(std::span(nonce.bytes)).begin());
    nonce.bytes[15] ^= static_cast<std::uint8_t>(i);
    nonce.bytes[0] &= 0x7f;
    const Bytes in = part(plain, 16384 * i, std::min<std::size_t>(plain.size() - 16384 * i, 16384));
    Bytes ciphertext(in.size()), tag(16);
    mgm.seal(nonce, magic, in, ciphertext, tag);
    file = file + ciphertext + tag;
  }
  CHECK(difference(decrypt("sealed", request_with({key_a}), file).out, plain) == "");
  SessionRequest request = request_with({key_a});
  request.cipher = Cipher::kuznyechik;
  CHECK(difference(decrypt("sealed", std::move(request), file).out, plain) == "");

  request = request_with({key_a});
  request.cipher = Cipher::aes_256;
  CHECK(contains(decrypt("sealed", std::move(request), file).failure,
                 "usage: the input was sealed with kuznyechik, not aes-256"));
  request = request_with({key_a});
  request.cipher = Cipher::kuznyechik;
  const Bytes sealed = encrypt("sealed", std::move(request), plain);
  CHECK(part(sealed, 0, 17) == context);
  CHECK(difference(decrypt("sealed", request_with({key_a}), sealed).out, plain) == "");
  request = request_with({key_a});
  request.cipher = Cipher::kuznyechik;
  CHECK(contains(decrypt("sealed", std::move(request), file_of(key_slot(key_a), 1)).failure,
                 "usage: the input was sealed with aes-256, not kuznyechik"));

  // The suite is authenticated by the header MAC and by the key derivation of the message.
  for (Bytes changed : {file, sealed, file_of(key_slot(key_a), 1)}) {
    changed[16] ^= std::byte{3};
    CHECK(contains(decrypt("sealed", request_with({key_a}), changed).failure, "auth: "));
  }
}

TEST_CASE("a message with Kuznyechik has at most 2^36 segments") {
  const auto session = make_segment_session({.key = {Cipher::kuznyechik, secret_of(file_key)}});
  Bytes plain(16384), sealed(16400);
  constexpr std::uint64_t end = std::uint64_t{1} << 36;
  CHECK(session->cipher() == Cipher::kuznyechik);
  CHECK(session->job({(end - 1) * 16384, plain, sealed}).first_segment == end - 1);
  CHECK(failure_of([&] {
          session->job({end * 16384, plain, sealed});
        }) == "io: the input is too long; the format allows at most 2^36 segments of 16384 bytes");
}

TEST_CASE("a message has at most 2^38 segments") {
  const auto session = [](bool is_decrypt) {
    return make_segment_session(
        {.decrypt = is_decrypt, .key = {Cipher::aes_256, secret_of(file_key)}, .base_nonce = {}});
  };
  Bytes plain(16384), sealed(16400);
  constexpr std::uint64_t end = std::uint64_t{1} << 38;
  const auto seal = session(false), open = session(true);
  CHECK(seal->output_size(0, true) == 16);
  CHECK(seal->output_size(0, false) == 0);
  CHECK(seal->output_size(16384, false) == 16400);
  CHECK(seal->output_size(16384, true) == 16416);
  CHECK(seal->job({(end - 1) * 16384, plain, sealed}).first_segment == end - 1);
  CHECK(open->job({(end - 1) * 16400, sealed, plain}).first_segment == end - 1);
  CHECK(contains(failure_of([&] { seal->job({end * 16384, {}, std::span(sealed).first(16)}); }), "io: "));
  CHECK(contains(failure_of([&] { open->job({end * 16400, sealed, plain}); }), "io: "));
}

// Cobblestone --------------------------------------------------------------------------------------

TEST_CASE("the cobblestone format has two key lengths and a context") {
  const Bytes context = to_bytes("a context");
  for (const std::size_t size : {16, 32}) {
    const Bytes key = test_bytes(size, 9), file = message(key, context, test_bytes(20000));
    const auto opened = [&](std::optional<std::string> digits, const Bytes& with) {
      SessionRequest request = request_with({with});
      request.context = std::move(digits);
      return decrypt("cobblestone", std::move(request), file);
    };
    CHECK(difference(opened("6120636f6e74657874", key).out, test_bytes(20000)) == "");
    CHECK(difference(opened("6120636F6E74657874", key).out, test_bytes(20000)) == "");
    for (const std::string_view other : {"", "6120636f6e746578", "6120636f6e7465787400"})
      CHECK(contains(opened(std::string(other), key).failure,
                     "key: this key and context do not open the input"));
    CHECK(contains(opened({}, key).failure, "key: "));
    CHECK(contains(opened("6120636f6e74657874", test_bytes(48 - size)).failure, "key: "));
    CHECK(contains(opened("6120636f6e74657874", test_bytes(size)).failure, "key: "));
    for (const std::string_view bad : {"6", "612"})
      CHECK(opened(std::string(bad), key).failure ==
            "usage: --context has " + std::to_string(bad.size()) +
                " digits; it must have an even number of digits, at most 2048");
    for (const std::string_view bad : {"6g", "61 20 "})
      CHECK(opened(std::string(bad), key).failure ==
            "usage: --context contains a character that is not a hexadecimal digit");
    CHECK(contains(opened(std::string(2048, '0'), key).failure, "key: "));
    CHECK(contains(opened(std::string(2050, '0'), key).failure, "usage: --context has 2050 digits"));
  }
}

TEST_CASE("the salt and commitment of the cobblestone format are checked before plaintext is released") {
  const Bytes good = message(file_key, {}, to_bytes("plaintext"));
  for (std::size_t size = 0; size < 56; ++size)
    CHECK(decrypt("cobblestone", request_with({file_key}), part(good, 0, size)).failure ==
          "auth: the input is truncated after byte " + std::to_string(size) +
              ", in its header; nothing was written");
  for (std::size_t at = 0; at < 56; ++at) {
    Bytes bad = good;
    bad[at] ^= std::byte{0x10};
    const Result result = decrypt("cobblestone", request_with({file_key}), bad);
    CHECK(contains(result.failure, "key: "));
    CHECK(result.out.empty());
  }
}

TEST_CASE("the cobblestone format reports what it requires") {
  const auto refusal = [](SessionRequest request) {
    return failure_of([&] { open_cobblestone(std::move(request)); });
  };
  CHECK(contains(refusal(request_with({})), "usage: the cobblestone format requires a key"));
  CHECK(contains(refusal(request_with({test_bytes(24)})),
                 "usage: the cobblestone format requires a key of 16 or 32 bytes; the key in this one is 24 "
                 "bytes long"));
  SessionRequest request = request_with({test_bytes(16)});
  request.cipher = Cipher::aes_256;
  CHECK(contains(refusal(std::move(request)),
                 "usage: aes-256 requires a key of 32 bytes; the key in this one is 16 bytes long"));
  request = request_with({test_bytes(16)});
  request.cipher = Cipher::aes_128;
  CHECK(refusal(std::move(request)) == "");
}

// OpenSSL ------------------------------------------------------------------------------------------

TEST_CASE("the output of openssl enc -aes-N-ctr -pbkdf2 is decrypted") {
  // Written by OpenSSL 3.0.19:
  //   printf 'attack ...' | openssl enc -aes-N-ctr -pbkdf2 [-iter N] -pass pass:'correct horse'
  struct Case {
    std::optional<Cipher> cipher;
    std::optional<std::uint32_t> iterations;
    std::string_view file;
  };
  constexpr Case cases[] = {
      {Cipher::aes_128,
       {},
       "53616c7465645f5f258bb2a13e24551209e5ee7e0a73cfb22d14297a74dd3784da379a451ebd1ae787bab2c1e1874822bfe14"
       "b96"},
      {Cipher::aes_192,
       {},
       "53616c7465645f5f026b4a50ce0976419f425a84105843a59f846b4838bff4540d5bbead8830df1c0506088ca6356c0c0f3eb"
       "890"},
      {Cipher::aes_256,
       {},
       "53616c7465645f5f490026358a836da258bc807dac2fe39b2711f8a34e3c15d4bafe7a0aa158be130b3a37a1d2e6a3bd2f9eb"
       "227"},
      {{},
       10000,
       "53616c7465645f5f490026358a836da258bc807dac2fe39b2711f8a34e3c15d4bafe7a0aa158be130b3a37a1d2e6a3bd2f9eb"
       "227"},
      {Cipher::aes_128, 3,
       "53616c7465645f5f5d64a2630269f92402769d9776b9c88d5a683664a55eb8439b7636a7a75b00ddda9418549bde7a1cff9b8"
       "9bf"},
      {{},
       3,
       "53616c7465645f5f4f1c6487897dddad76c90fca8f4891a215ad7bd90b223f65dda7efbedadfe86fe5ded98f86aff759d3cc4"
       "8a7"},
  };
  for (const Case& each : cases) {
    SessionRequest request = request_with({}, words);
    request.cipher = each.cipher;
    request.iterations = each.iterations;
    CHECK(decrypt("openssl", std::move(request), from_hex(each.file)).out ==
          to_bytes("attack at dawn, or a little after it"));
  }
}

TEST_CASE("the openssl format writes a header with a fresh salt and reads it again") {
  const Bytes plain = test_bytes(1000);
  const Bytes a = encrypt("openssl", request_with({}, words), plain);
  const Bytes b = encrypt("openssl", request_with({}, words), plain);
  CHECK(a.size() == 1016);
  CHECK(part(a, 0, 8) == to_bytes("Salted__"));
  CHECK(part(a, 8, 8) != part(b, 8, 8));
  CHECK(decrypt("openssl", request_with({}, words), a).out == plain);
  CHECK(decrypt("openssl", request_with({}, to_bytes("other")), a).out != plain);
}

TEST_CASE("the openssl format reports what it requires, and refuses input in another format") {
  const auto refusal = [](SessionRequest request) {
    return failure_of([&] { open_openssl(std::move(request)); });
  };
  CHECK(contains(refusal(request_with({})), "usage: the openssl format requires a passphrase"));
  CHECK(error_of<UsageError>([] { open_openssl(request_with({})); })->hint() ==
        "use -p to enter it, or --passphrase-file FILE to read it from a file");
  CHECK(contains(refusal(request_with({key_a}, words)),
                 "usage: the openssl format uses a passphrase, not a key file"));
  for (const std::uint32_t iterations : {0u, 0x80000000u, 0xffffffffu}) {
    SessionRequest request = request_with({}, words);
    request.iterations = iterations;
    CHECK(refusal(std::move(request)) ==
          "usage: --iter must be from 1 to 2147483647, not " + std::to_string(iterations));
  }
  const Bytes good = to_bytes("Salted__12345678");
  for (std::size_t size = 0; size < good.size(); ++size)
    CHECK(contains(decrypt("openssl", request_with({}, words), part(good, 0, size)).failure,
                   size < 8 ? "auth: the input is not in the openssl format"
                            : "auth: the input is truncated after byte "));
  CHECK(decrypt("openssl", request_with({}, words), to_bytes("salted__12345678")).failure ==
        "auth: the input is not in the openssl format: it does not begin with 'Salted__'");
  CHECK(decrypt("openssl", request_with({}, words), good).failure == "");
}

}  // namespace gpuaes
