#include "format/sealed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/formats.hpp"
#include "format/header_reader.hpp"
#include "format/refused_secrets.hpp"
#include "format/sessions.hpp"
#include "keys/kdf.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view version = "1\n";
constexpr std::size_t version_at = sealed_magic.size();
constexpr std::size_t suite_at = version_at + version.size();
constexpr std::size_t slots_at = suite_at + 4;  // suite, number of slots, be16 size of the slots
static_assert(suite_at + 1 == sealed_context_bytes);

std::array<std::byte, mac_bytes> header_mac(const Secret& file_key, std::span<const std::byte> message) {
  return make_mac(file_key, "gpuaes-stream/1 header", message);
}

// Appends the next `size` bytes of the input.
void take(HeaderReader& input, std::vector<std::byte>& bytes, std::size_t size) {
  bytes.resize(bytes.size() + size);
  input.take(std::span(bytes).last(size));
}

void check_magic(HeaderReader& input) {
  const std::span<const std::byte> begin = input.peek(suite_at);
  const std::string_view text(reinterpret_cast<const char*>(begin.data()), begin.size());
  if (text.size() == suite_at && text.starts_with(sealed_magic)) {
    if (text.substr(version_at) == version) return;
    if (is_other_version(text.substr(version_at)))
      throw VersionError("the input uses a version of the sealed format other than 1");
  }
  refuse_other_format(input);
  throw AuthError(
      "the input is not in the sealed format: it does not begin with 'gpuaes-stream/1' and a newline",
      undetected_formats_hint());
}

std::byte number_of_suite(SealedSuite suite) {
  const auto& numbers = suite_of(suite.cipher).numbers;
  if (!numbers)
    throw UsageError(fmt::format("{} cannot be used in an authenticated format", info(suite.cipher).name));
  return std::byte{suite.in_parts ? numbers->in_parts : numbers->whole};
}

SealedSuite find_suite(std::size_t number) {
  for (const CipherInfo& each : ciphers) {
    if (!each.suite || !each.suite->numbers) continue;
    if (each.suite->numbers->whole == number) return {each.cipher};
    if (each.suite->numbers->in_parts == number) return {each.cipher, true};
  }
  throw VersionError(
      fmt::format("the input uses cipher suite {:02x}, which this version does not support", number));
}

}  // namespace

bool is_other_version(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return is_digit(text[0]) && (text[1] == '\n' ? text[0] != version[0] : text[0] != '0' && is_digit(text[1]));
}

std::array<std::byte, mac_bytes> make_mac(const Secret& file_key, std::string_view use,
                                          std::span<const std::byte> message) {
  const Secret key = hkdf_expand_sha512(file_key.bytes(), bytes_of(use), 64);
  const std::array<std::byte, 64> whole = hmac_sha512(key.bytes(), message);
  std::array<std::byte, mac_bytes> mac;
  std::copy_n(whole.begin(), mac.size(), mac.begin());
  return mac;
}

bool has_slot(const SealedHeader& header, SlotType type) {
  return std::ranges::any_of(header.slots, [type](const Slot& slot) { return slot.type == type; });
}

std::vector<Kem> recipient_kems(const SealedHeader& header) {
  std::vector<Kem> kems;
  for (const Slot& slot : header.slots)
    if (const std::optional<Kem> kem = kem_of(slot.type)) kems.push_back(*kem);
  return kems;
}

void check_keys(std::span<const FileKey> keys) {
  for (const FileKey& key : keys)
    if (key.size() != file_key_bytes)
      throw UsageError(
          fmt::format("the sealed format requires a key of {} bytes; the key in {} is {} bytes long",
                      file_key_bytes, key.name, key.size()));
}

void check_new_slots(std::span<const FileKey> keys, std::span<const Recipient> recipients, bool passphrase) {
  check_keys(keys);
  if (passphrase && !recipients.empty())
    throw UsageError("a passphrase cannot be combined with recipients",
                     "use one of the two; anyone can seal for a recipient, so the passphrase would not show "
                     "who wrote the file");
  if (std::ranges::adjacent_find(recipients, std::ranges::not_equal_to(), &Recipient::kem) !=
      recipients.end())
    throw UsageError("post-quantum recipients cannot be combined with X25519 recipients",
                     "use recipients of one kind; with both, a file would be only as safe as X25519");
  const std::size_t count = keys.size() + recipients.size() + (passphrase ? 1 : 0);
  if (count > max_slots)
    throw UsageError(fmt::format(
        "the sealed format allows at most {} keys, recipients and passphrases in total", max_slots));
}

std::vector<std::byte> make_sealed_header(SealedSuite suite, const Secret& file_key,
                                          const NewSlots& new_slots, const StopCheck& check) {
  std::vector<std::byte> slots;
  for (const FileKey& key : new_slots.keys) append(slots, make_key_slot(file_key, key));
  for (const Recipient& recipient : new_slots.recipients)
    append(slots, make_recipient_slot(file_key, recipient));
  if (new_slots.passphrase != nullptr)
    append(slots, make_passphrase_slot(file_key, *new_slots.passphrase, check));
  const std::size_t count =
      new_slots.keys.size() + new_slots.recipients.size() + (new_slots.passphrase != nullptr ? 1 : 0);

  std::vector<std::byte> header;
  append(header, bytes_of(sealed_magic));
  append(header, bytes_of(version));
  header.push_back(number_of_suite(suite));
  header.push_back(static_cast<std::byte>(count));
  header.push_back(static_cast<std::byte>(slots.size() >> 8));
  header.push_back(static_cast<std::byte>(slots.size() & 0xff));
  append(header, slots);
  append(header, header_mac(file_key, header));
  return header;
}

SealedHeader read_sealed_header(HeaderReader& input, bool salvage) {
  SealedHeader header;
  check_magic(input);
  take(input, header.bytes, sealed_context_bytes);
  const auto number = [&](std::size_t at) { return std::to_integer<std::size_t>(header.bytes[at]); };
  header.suite = find_suite(number(suite_at));
  take(input, header.bytes, slots_at - sealed_context_bytes);
  const std::size_t count = number(suite_at + 1), size = number(suite_at + 2) << 8 | number(suite_at + 3);
  if (count == 0 || count > max_slots)
    refuse_header(suite_at + 1, fmt::format("it has {} key slots; 1 to {} are allowed", count, max_slots));
  take(input, header.bytes, size + mac_bytes);
  header.slots = parse_slots(std::span(header.bytes).subspan(slots_at, size), count, slots_at,
                             salvage ? &header.bad_slot : nullptr);
  return header;
}

bool has_correct_mac(const SealedHeader& header, const Secret& file_key) {
  const auto bytes = std::span(header.bytes);
  return is_equal(header_mac(file_key, bytes.first(bytes.size() - mac_bytes)), bytes.last(mac_bytes));
}

Secret open_slots(const SealedHeader& header, const SessionRequest& request) {
  check_any_given(header, request);
  const std::size_t mac_at = header.bytes.size() - mac_bytes;
  std::optional<Secret> unwrapped;  // the first file key, if the MAC is wrong
  const auto opens = [&](std::optional<Secret>& file_key) {
    if (!file_key) return false;
    if (has_correct_mac(header, *file_key)) {
      if (header.bad_slot) std::rethrow_exception(header.bad_slot);  // it was written like that
      return true;
    }
    if (!unwrapped) unwrapped = std::move(file_key);
    return false;
  };
  const auto report = [&request](const std::string& what) {
    if (request.detail) request.detail(fmt::format("{} opens the input", what));
  };

  // The file key from the first slot that one of the secrets opens. Tries each secret only with slots for it.
  const auto try_all = [&](const char* what, const auto& each_secret, auto is_for_secret, auto unwrap_with) {
    for (const auto& secret : each_secret)
      for (const Slot& slot : header.slots) {
        if (!is_for_secret(slot, secret)) continue;
        std::optional<Secret> file_key = unwrap_with(slot, secret);
        if (!opens(file_key)) continue;
        report(fmt::format("the {} from {}", what, secret.name));
        return file_key;
      }
    return std::optional<Secret>();
  };

  const auto is_for_key = [](const Slot& slot, const FileKey&) { return slot.type == SlotType::key_file; };
  if (std::optional<Secret> file_key = try_all("key", request.keys, is_for_key, unwrap))
    return std::move(*file_key);
  const auto is_for_available = [](const Slot& slot, const Identity& identity) {
    return kem_of(slot.type) == identity.kem && info(identity.kem).is_available();
  };
  if (std::optional<Secret> file_key =
          try_all("identity", request.identities, is_for_available, unwrap_with_identity))
    return std::move(*file_key);
  const auto slot = std::ranges::find(header.slots, SlotType::passphrase, &Slot::type);
  const bool can_salvage = request.salvage && unwrapped;
  if (request.passphrase && slot != header.slots.end() && !can_salvage) {
    check_scrypt_parameters(*slot);
    std::optional<Secret> file_key;
    while (!file_key) {
      const std::optional<Secret> passphrase = request.passphrase();
      if (!passphrase) break;
      file_key = unwrap_with_passphrase(*slot, *passphrase, request.check);
    }
    if (opens(file_key)) {
      report("the passphrase");
      return std::move(*file_key);
    }
  }
  if (unwrapped) {
    // Or the slot was copied from another file.
    if (!request.salvage) refuse_header(mac_at, "the header or its MAC was modified");
    request.salvage(fmt::format(
        "the header, which ends at byte {}, is corrupt, but the given secret opens one of its slots",
        header.bytes.size()));
    return std::move(*unwrapped);
  }
  if (header.bad_slot) std::rethrow_exception(header.bad_slot);
  refuse_secrets(header, request);
}

}  // namespace gpuaes
