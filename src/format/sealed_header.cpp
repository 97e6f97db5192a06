#include "format/sealed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
#include "format/sessions.hpp"
#include "keys/kdf.hpp"
#include "keys/ml_kem.hpp"

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

// Whether the slot is for identities of this kind.
bool is_for(const Slot& slot, const Identity& identity) {
  return kem_of(slot.type) == identity.kem;
}

// KeyError if there are slots that one of the identities might open with a newer libcrypto.
void refuse_unavailable(const SealedHeader& header, std::span<const Identity> identities) {
  std::vector<std::size_t> untried;  // numbers, as --info shows them
  for (std::size_t i = 0; i < header.slots.size(); ++i) {
    const auto might_open = [&](const Identity& identity) {
      return is_for(header.slots[i], identity) && !info(identity.kem).is_available();
    };
    if (std::ranges::any_of(identities, might_open)) untried.push_back(i + 1);
  }
  if (!untried.empty())
    throw KeyError(fmt::format("no slot opens the input, but slot{} {} could not be tried: {}",
                               untried.size() == 1 ? "" : "s", fmt::join(untried, ", "), lacks_ml_kem()),
                   lacks_ml_kem_hint);
}

// A kind of secret that can open a file.
struct SecretKind {
  SlotType slot;
  std::string_view name;
  bool given;
  std::string_view wrong, missing, missing_hint;  // messages
};

// The kinds for which the header has slots.
std::vector<SecretKind> kinds_of_slots(const SealedHeader& header, const SessionRequest& request) {
  const auto has_identity = [&request](Kem kem) {
    return std::ranges::find(request.identities, kem, &Identity::kem) != request.identities.end();
  };
  std::vector<SecretKind> kinds{
      {SlotType::key_file, "a key file", !request.keys.empty(), "none of the given keys opens the input",
       "the input was sealed with a key file, and none was given", "name the key file with -k"},
      {SlotType::x25519, "an X25519 identity", has_identity(Kem::x25519),
       "none of the given identities opens the input",
       "the input was sealed for an X25519 recipient, and no X25519 identity was given",
       "name the identity file with -k"},
      {SlotType::xwing, "a post-quantum identity", has_identity(Kem::xwing),
       "none of the given identities opens the input",
       "the input was sealed for a post-quantum recipient, and no post-quantum identity was given",
       "name the identity file with -k"},
      {SlotType::passphrase, "a passphrase", static_cast<bool>(request.passphrase),
       "the passphrase does not open the input", "the input was sealed with a passphrase, and none was given",
       "use -p to enter the passphrase"},
  };
  std::erase_if(kinds, [&header](const SecretKind& kind) { return !has_slot(header, kind.slot); });
  return kinds;
}

// Without any secret, the input may need only a passphrase that can be asked for.
void check_any_given(const SealedHeader& header, const SessionRequest& request) {
  if (!request.none_given) return;
  const std::vector<SecretKind> kinds = kinds_of_slots(header, request);
  if (kinds.empty()) return;
  if (kinds.size() > 1) {
    std::vector<std::string_view> names;
    for (const SecretKind& kind : kinds) names.push_back(kind.name);
    throw UnsuitableInput(fmt::format("no key or passphrase was given; any of these opens the input: {}",
                                      fmt::join(names, ", ")),
                          "name a key or identity file with -k, or use -p to enter a passphrase");
  }
  if (kinds[0].slot != SlotType::passphrase)
    throw UnsuitableInput(std::string(kinds[0].missing), std::string(kinds[0].missing_hint));
  if (!request.passphrase)
    throw UnsuitableInput(std::string(kinds[0].missing),
                          "there is no terminal to ask on; use --passphrase-file or --passphrase-command");
}

// Throws KeyError: names the secrets that were tried or, if there were none, the kind that is missing.
[[noreturn]] void refuse_secrets(const SealedHeader& header, const SessionRequest& request) {
  refuse_unavailable(header, request.identities);
  const std::vector<SecretKind> present = kinds_of_slots(header, request);
  std::vector<SecretKind> tried = present;
  std::erase_if(tried, [](const SecretKind& kind) { return !kind.given; });
  if (!tried.empty())
    throw KeyError(
        std::string(tried.size() == 1 ? tried.front().wrong : "none of the given secrets opens the input"),
        "the input was sealed with other secrets, or its header is damaged; --info lists its slots");
  if (present.empty())
    throw KeyError("the input has only key slots that this version does not support",
                   "try a later version of gpuaes-stream");
  throw KeyError(std::string(present.front().missing), std::string(present.front().missing_hint));
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

Secret open_slots(const SealedHeader& header, const SessionRequest& request) {
  check_any_given(header, request);
  const std::size_t mac_at = header.bytes.size() - mac_bytes;
  const auto mac_input = std::span(header.bytes).first(mac_at), mac = std::span(header.bytes).last(mac_bytes);
  std::optional<Secret> unwrapped;  // the first file key, if the MAC is wrong
  const auto opens = [&](std::optional<Secret>& file_key) {
    if (!file_key) return false;
    if (is_equal(header_mac(*file_key, mac_input), mac)) {
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
        report(fmt::format("the {} in {}", what, secret.name));
        return file_key;
      }
    return std::optional<Secret>();
  };

  const auto is_for_key = [](const Slot& slot, const FileKey&) { return slot.type == SlotType::key_file; };
  if (std::optional<Secret> file_key = try_all("key", request.keys, is_for_key, unwrap))
    return std::move(*file_key);
  const auto is_for_available = [](const Slot& slot, const Identity& identity) {
    return is_for(slot, identity) && info(identity.kem).is_available();
  };
  if (std::optional<Secret> file_key =
          try_all("identity", request.identities, is_for_available, unwrap_with_identity))
    return std::move(*file_key);
  const auto slot = std::ranges::find(header.slots, SlotType::passphrase, &Slot::type);
  const bool can_salvage = request.salvage && unwrapped;
  if (request.passphrase && slot != header.slots.end() && !can_salvage) {
    check_scrypt_parameters(*slot);
    std::optional<Secret> file_key;
    for (unsigned attempt = 0; attempt < request.passphrase_attempts && !file_key; ++attempt)
      file_key = unwrap_with_passphrase(*slot, request.passphrase(), request.check);
    if (opens(file_key)) {
      report("the passphrase");
      return std::move(*file_key);
    }
  }
  if (unwrapped) {
    // Or the slot was copied from another file.
    if (!request.salvage) refuse_header(mac_at, "the header or its MAC was modified");
    request.salvage(fmt::format("the input is corrupt before byte {}, in its header, but a slot still opens",
                                header.bytes.size()));
    return std::move(*unwrapped);
  }
  if (header.bad_slot) std::rethrow_exception(header.bad_slot);
  refuse_secrets(header, request);
}

}  // namespace gpuaes
