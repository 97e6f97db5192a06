#include "format/sealed_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "cipher/kdf.hpp"
#include "error.hpp"
#include "format/bytes.hpp"
#include "format/format.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view version = "1\n";
constexpr std::size_t version_at = sealed_magic.size();
constexpr std::size_t suite_at = version_at + version.size();
constexpr std::size_t slots_at = suite_at + 4;  // suite, number of slots, be16 size of the slots
constexpr std::size_t mac_bytes = 32;

struct Suite {
  std::byte number;
  Cipher cipher;
};
constexpr std::array suites{Suite{std::byte{1}, Cipher::aes_256},      // Cobblestone-256
                            Suite{std::byte{2}, Cipher::kuznyechik}};  // Kuznyechik-MGM

static_assert(suite_at + 1 == sealed_context_bytes);

std::array<std::byte, mac_bytes> header_mac(const Secret& file_key, std::span<const std::byte> message) {
  const Secret key = hkdf_expand_sha512(file_key.bytes(), bytes_of("gpuaes-stream/1 header"), 64);
  std::array<std::byte, 64> whole = hmac_sha512(key.bytes(), message);
  std::array<std::byte, mac_bytes> mac;
  std::copy_n(whole.begin(), mac.size(), mac.begin());
  return mac;
}

// Appends the next `size` bytes of the input.
void take(HeaderReader& input, std::vector<std::byte>& bytes, std::size_t size) {
  bytes.resize(bytes.size() + size);
  input.take(std::span(bytes).last(size));
}

// Two digits that are the number of another version, or one and a line feed.
bool is_other_version(char first, char second) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return is_digit(first) && (second == '\n' ? first != version[0] : first != '0' && is_digit(second));
}

void check_magic(HeaderReader& input) {
  const std::span<const std::byte> begin = input.peek(suite_at);
  const std::string_view text(reinterpret_cast<const char*>(begin.data()), begin.size());
  if (text.size() == suite_at && text.starts_with(sealed_magic)) {
    if (text.substr(version_at) == version) return;
    if (is_other_version(text[version_at], text[version_at + 1]))
      throw IoError(
          "input is of another version of the sealed format than 1, which is all this program reads");
  }
  throw AuthError("input is not in sealed format: it does not begin with 'gpuaes-stream/1' and a line feed",
                  unnamed_formats_hint);
}

// A header with the secret's slot but another's MAC, or slots moved between files: somebody made it.
[[noreturn]] void refuse_mac(const SealedHeader& header) {
  refuse_header(header.bytes.size() - mac_bytes, "it was changed, or its MAC was");
}

bool has_slot(const SealedHeader& header, SlotType type) {
  return std::ranges::any_of(header.slots, [type](const Slot& slot) { return slot.type == type; });
}

// What the user gave opens nothing: says what was tried, or what there would have been to try.
[[noreturn]] void refuse_secrets(const SealedHeader& header, bool keys_given, bool passphrase_given) {
  const bool tried_keys = keys_given && has_slot(header, SlotType::key_file);
  const bool tried_passphrase = passphrase_given && has_slot(header, SlotType::passphrase);
  if (tried_keys || tried_passphrase)
    throw KeyError(tried_keys && tried_passphrase ? "neither a key nor the passphrase opens the input"
                   : tried_keys                   ? "no key that was given opens the input"
                                                  : "the passphrase does not open the input",
                   "it is the wrong one, or its slot in the input's header is damaged");
  std::string message = "the input was not sealed with a ";
  message += keys_given && passphrase_given ? "key file, and not with a passphrase"
             : keys_given                   ? "key file"
                                            : "passphrase";
  if (has_slot(header, SlotType::key_file))
    throw KeyError(message, "it was sealed with a key file: name it with -k");
  if (has_slot(header, SlotType::passphrase))
    throw KeyError(message, "it was sealed with a passphrase: -p asks for it");
  throw KeyError(message, "it has slots of other types alone");
}

}  // namespace

bool has_suite(Cipher cipher) {
  return std::ranges::find(suites, cipher, &Suite::cipher) != suites.end();
}

std::vector<std::byte> make_sealed_header(Cipher cipher, const Secret& file_key, std::span<const Secret> keys,
                                          const Secret* passphrase, const Check& check) {
  std::vector<std::byte> slots;
  for (const Secret& key : keys) append(slots, make_key_slot(file_key, key));
  if (passphrase != nullptr) append(slots, make_passphrase_slot(file_key, *passphrase, check));

  std::vector<std::byte> header;
  append(header, bytes_of(sealed_magic));
  append(header, bytes_of(version));
  header.push_back(std::ranges::find(suites, cipher, &Suite::cipher)->number);
  header.push_back(static_cast<std::byte>(keys.size() + (passphrase != nullptr ? 1 : 0)));
  header.push_back(static_cast<std::byte>(slots.size() >> 8));
  header.push_back(static_cast<std::byte>(slots.size() & 0xff));
  append(header, slots);
  append(header, header_mac(file_key, header));
  return header;
}

SealedHeader read_sealed_header(HeaderReader& input) {
  SealedHeader header;
  check_magic(input);
  take(input, header.bytes, sealed_context_bytes);
  const auto suite = std::ranges::find(suites, header.bytes[suite_at], &Suite::number);
  if (suite == suites.end())
    throw IoError(fmt::format("input has cipher suite {:02x}, which this version does not read",
                              std::to_integer<unsigned>(header.bytes[suite_at])));
  header.cipher = suite->cipher;
  take(input, header.bytes, slots_at - sealed_context_bytes);
  const auto number = [&](std::size_t at) { return std::to_integer<std::size_t>(header.bytes[at]); };
  const std::size_t count = number(suite_at + 1), size = number(suite_at + 2) << 8 | number(suite_at + 3);
  if (count == 0 || count > most_slots)
    refuse_header(suite_at + 1, fmt::format("{} key slots, where 1 to {} can be", count, most_slots));
  take(input, header.bytes, size + mac_bytes);
  header.slots = parse_slots(std::span(header.bytes).subspan(slots_at, size), count, slots_at);
  return header;
}

Secret open_slots(const SealedHeader& header, std::span<const Secret> keys,
                  const std::function<Secret()>& passphrase, const Check& check) {
  const auto signed_part = std::span(header.bytes).first(header.bytes.size() - mac_bytes);
  const auto mac = std::span(header.bytes).last(mac_bytes);
  bool unwrapped = false;
  const auto opens = [&](const std::optional<Secret>& file_key) {
    unwrapped = unwrapped || file_key;
    return file_key && is_equal(header_mac(*file_key, signed_part), mac);
  };

  for (const Secret& key : keys)
    for (const Slot& slot : header.slots) {
      if (slot.type != SlotType::key_file) continue;
      if (std::optional<Secret> file_key = unwrap(slot, key); opens(file_key)) return std::move(*file_key);
    }
  const auto slot = std::ranges::find(header.slots, SlotType::passphrase, &Slot::type);
  if (passphrase && slot != header.slots.end()) {
    check_scrypt_parameters(*slot);
    if (std::optional<Secret> file_key = unwrap_with_passphrase(*slot, passphrase(), check); opens(file_key))
      return std::move(*file_key);
  }
  if (unwrapped) refuse_mac(header);
  refuse_secrets(header, !keys.empty(), static_cast<bool>(passphrase));
}

}  // namespace gpuaes
