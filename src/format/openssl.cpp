// The two formats of `openssl enc` in CTR mode, with a passphrase and with a key. Neither is authenticated.
#include "format/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "format/header_reader.hpp"
#include "format/sessions.hpp"
#include "keys/kdf.hpp"
#include "keys/key.hpp"

namespace gpuaes {

// openssl ---------------------------------------------------------------------------------------------

namespace {

constexpr std::string_view openssl_magic = "Salted__";
constexpr std::uint32_t default_iterations = 10000;
constexpr std::uint32_t max_iterations = std::numeric_limits<std::int32_t>::max();  // libcrypto takes an int

using Header = std::array<std::byte, 16>;  // magic, salt

std::span<const std::byte> salt_of(const Header& header) {
  return std::span(header).subspan(openssl_magic.size());
}

Header read_header(HeaderReader& input) {
  if (!std::ranges::equal(input.peek(openssl_magic.size()), bytes_of(openssl_magic))) {
    refuse_other_format(input, "openssl");
    throw AuthError("the input is not in the openssl format: it does not begin with 'Salted__'");
  }
  Header header;
  input.take(header);
  return header;
}

Header make_header() {
  Header header;
  std::ranges::copy(bytes_of(openssl_magic), header.begin());
  fill_random(std::span(header).subspan(openssl_magic.size()));
  return header;
}

bool is_aes(Cipher cipher) {
  return info(cipher).family == Family::aes;
}

std::unique_ptr<Session> open_openssl(SessionRequest request) {
  if (request.keyring.count(KeyKind::key_file) > 0)
    throw UsageError("the openssl format uses a passphrase, not a key file", Advice::enter_passphrase);
  const Key* const key = request.keyring.find(KeyKind::passphrase);
  if (key == nullptr) throw UsageError("the openssl format requires a passphrase", Advice::enter_passphrase);
  const std::uint32_t iterations = request.iterations.value_or(default_iterations);
  if (iterations == 0 || iterations > max_iterations)
    throw UsageError(
        fmt::format("the number of iterations must be from 1 to {}, not {}", max_iterations, iterations));

  const Header header = request.decrypt ? read_header(*request.input) : make_header();
  const Cipher cipher = request.cipher.value_or(Cipher::aes_256);
  // The key, followed by the first counter block.
  const Secret passphrase = key->passphrase(request.input_name, false).value();
  Secret derived = pbkdf2_sha256(passphrase.bytes(), salt_of(header), iterations,
                                 info(cipher).key_bytes + sizeof(CounterBlock), request.check);
  CounterBlock first;
  std::ranges::copy(derived.bytes().subspan(info(cipher).key_bytes),
                    std::as_writable_bytes(std::span(first)).begin());
  derived.shrink(info(cipher).key_bytes);
  std::vector<std::byte> written;
  if (!request.decrypt) written.assign(header.begin(), header.end());
  return make_ctr_session({cipher, std::move(derived)}, load_counter(first), std::move(written));
}

Description describe_openssl(HeaderReader& input) {
  read_header(input);
  return {};
}

}  // namespace

// The format of `openssl enc -aes-N-ctr -pbkdf2 [-iter N]` (openssl-enc(1)): "Salted__", 8 bytes of salt, and
// AES in CTR mode. PBKDF2 with HMAC-SHA-256 derives the key and the first counter block from a passphrase. A
// wrong passphrase cannot be detected.
constinit const Format openssl_format{
    .name = "openssl",
    .authenticated = false,
    .magic = openssl_magic,
    .accepts = {.passphrase = true, .iterations = true},
    .supports = is_aes,
    .open = open_openssl,
    .describe = describe_openssl,
    .may_be_cbc = true,
};

// raw -------------------------------------------------------------------------------------------------

namespace {

// The first counter block: the IV, padded with zeros.
Counter parse_iv(const std::string& digits, const CipherInfo& cipher) {
  CounterBlock block{};
  const std::size_t iv_bytes = cipher.ctr.value().iv_bytes;
  if (digits.size() != 2 * iv_bytes)
    throw UsageError(fmt::format("the IV has {}; the raw format with {} requires {} hexadecimal digits",
                                 counted(digits.size(), "digit"), cipher.name, 2 * iv_bytes));
  if (!parse_hex(digits, std::as_writable_bytes(std::span(block)).first(iv_bytes)))
    throw UsageError("the IV contains a character that is not a hexadecimal digit");
  return load_counter(block);
}

bool has_counter_mode(Cipher cipher) {
  return info(cipher).ctr.has_value();
}

std::unique_ptr<Session> open_raw(SessionRequest request) {
  const Key* const key = request.keyring.find(KeyKind::key_file);
  if (key == nullptr) throw UsageError("the raw format requires a key", Advice::name_key_file);
  if (!request.iv)
    throw UsageError("the raw format requires an IV",
                     request.decrypt
                         ? "give the IV that the input was encrypted with, in hexadecimal"
                         : "give a new IV in hexadecimal; never use an IV twice with the same key");
  const Cipher cipher = choose_cipher(request.cipher, *key);
  return make_ctr_session({cipher, key->secret.copy()}, parse_iv(*request.iv, info(cipher)));
}

Description describe_raw(HeaderReader&) {
  return {};
}

}  // namespace

// CTR mode without a header, byte for byte as in `openssl enc -aes-N-ctr -K KEY -iv IV`. With Kuznyechik it
// is the mode of GOST R 34.13-2015, section 5.2, whose IV is the upper half of the first counter block, as in
// gost-engine's `openssl enc -engine gost -kuznyechik-ctr`.
constinit const Format raw_format{
    .name = "raw",
    .authenticated = false,
    .accepts = {.iv = true, .range = true},
    .supports = has_counter_mode,
    .open = open_raw,
    .describe = describe_raw,
};

}  // namespace gpuaes
