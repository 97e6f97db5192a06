#include "format/sealed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/cobblestone.hpp"
#include "format/parts/session.hpp"
#include "format/sessions.hpp"
#include "format/wrapped_keys.hpp"
#include "keys/kdf.hpp"

namespace gpuaes {

// The header ------------------------------------------------------------------------------------------

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
  refuse_other_format(input, "sealed");
  throw AuthError(
      "the input is not in the sealed format: it does not begin with 'gpuaes-stream/1' and a newline",
      Advice::check_download);
}

std::byte number_of_suite(SealedSuite suite) {
  const CipherInfo& row = info(suite.cipher);
  if (!row.suite || !row.suite->numbers)
    throw UsageError(fmt::format("{} cannot be used in an authenticated format", row.name));
  return std::byte{suite.in_parts ? row.suite->numbers->in_parts : row.suite->numbers->whole};
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

// UsageError if a key file does not have 32 bytes.
void check_keys(const Keyring& keyring) {
  for (const Key& key : keyring.keys)
    if (key.kind == KeyKind::key_file && key.secret.size() != file_key_bytes)
      throw UsageError(
          fmt::format("the sealed format requires a key of {} bytes; the key in {} is {} bytes long",
                      file_key_bytes, key.name, key.secret.size()));
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

void check_new_slots(const Keyring& keyring) {
  check_keys(keyring);
  check_combination(keyring);
  for (const Key& key : keyring.keys)
    if (find_slot_kind(key.kind) == nullptr)
      throw UsageError("the sealed format does not accept SSH, hardware or plugin recipients",
                       "the age format accepts them, but not together with a key file");
  if (keyring.keys.size() > max_slots)
    throw UsageError(fmt::format(
        "the sealed format allows at most {} keys, recipients and passphrases in total", max_slots));
}

std::vector<std::byte> make_sealed_header(SealedSuite suite, const Secret& file_key, const Keyring& keyring,
                                          const StopCheck& check) {
  std::vector<std::byte> slots;
  for (const Key& key : keyring.keys) append(slots, make_slot(file_key, key, check));

  std::array sizes{number_of_suite(suite), static_cast<std::byte>(keyring.keys.size()), std::byte{},
                   std::byte{}};
  store_big_endian(slots.size(), std::span(sizes).last(2));
  std::vector<std::byte> header = concatenate(bytes_of(sealed_magic), bytes_of(version), sizes, slots);
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

// Its slots -------------------------------------------------------------------------------------------

namespace {

HeaderKeys keys_of(const SealedHeader& header) {
  HeaderKeys keys{"slot", {}};
  for (const Slot& slot : header.slots) {
    const SlotKind* const kind = find_slot_kind(slot.type);
    keys.kinds.push_back(kind != nullptr ? std::optional(kind->key) : std::nullopt);
  }
  return keys;
}

// Tries a key with the slots for it. Returns the file key if the header's MAC confirms it. If the MAC is
// wrong, sets `unwrapped` to the first file key.
std::optional<Secret> try_slots(const SealedHeader& header, const Key& key, const SessionRequest& request,
                                std::optional<Secret>& unwrapped) {
  const SlotKind* const kind = find_slot_kind(key.kind);
  for (const Slot& slot : header.slots) {
    if (kind == nullptr || slot.type != kind->type) continue;
    if (request.check) request.check();
    std::optional<Secret> file_key = kind->unwrap(slot, key, request);
    if (!file_key) continue;
    if (has_correct_mac(header, *file_key)) {
      if (header.bad_slot) std::rethrow_exception(header.bad_slot);  // it was written like that
      if (request.detail) request.detail(fmt::format("{} opens the input", describe(key)));
      return file_key;
    }
    if (!unwrapped) unwrapped = std::move(file_key);
  }
  return std::nullopt;
}

// The file key, from the first slot that one of the secrets in the request opens. Asks for the passphrase
// only if no key or identity opens the header and it has a passphrase slot. KeyError if no slot can be
// unwrapped; UnsuitableInput if the user gave no secret and the header needs more than a passphrase.
// AuthError if a slot can be unwrapped but the header's MAC is wrong, or if the scrypt parameters are not
// allowed.
//
// With SessionRequest::salvage, a wrong MAC is not an error. The caller must then verify a commitment before
// it trusts the file key.
Secret open_slots(const SealedHeader& header, SessionRequest& request) {
  const HeaderKeys keys = keys_of(header);
  check_any_given(keys, request.keyring);
  std::optional<Secret> file_key, unwrapped;
  const auto can_ask = [&] { return !request.salvage || !unwrapped; };
  const auto needs = [&](const LockedKeys& file) {
    return can_ask() && file.recipient == nullptr && keys.supported() != std::vector{KeyKind::passphrase};
  };
  const std::exception_ptr failure = try_keys(request.keyring, needs, [&](const Key& key) {
    if (key.kind != KeyKind::passphrase || can_ask()) file_key = try_slots(header, key, request, unwrapped);
    return file_key.has_value();
  });
  if (file_key) return std::move(*file_key);
  if (unwrapped) {
    // Or the slot was copied from another file.
    if (!request.salvage)
      refuse_header(header.bytes.size() - mac_bytes, "the header or its MAC was modified",
                    Advice::recover_undamaged);
    request.salvage(fmt::format(
        "the header, which ends at byte {}, is corrupt, but the given secret opens one of its slots",
        header.bytes.size()));
    return std::move(*unwrapped);
  }
  if (header.bad_slot) std::rethrow_exception(header.bad_slot);
  if (failure) std::rethrow_exception(failure);
  if (keys.supported().empty())
    throw KeyError("the input has only key slots that this version does not support",
                   "try a later version of gpuaes-stream");
  refuse_keyring(keys, request.keyring);
}

// The format ------------------------------------------------------------------------------------------

// gpuaes-stream(5), "Message" and "Labels": magic, suite, label. The slots are left out, so they can be
// replaced without encrypting the file again.
std::vector<std::byte> message_context(std::span<const std::byte> header,
                                       const std::optional<std::string>& label) {
  return concatenate(header.first(sealed_context_bytes), bytes_of(label.value_or("")));
}

void check_request(const SessionRequest& request) {
  if (request.keyring.empty() && !request.keyring.none_given)
    throw UsageError("the sealed format requires a key or a passphrase");
  request.decrypt ? check_keys(request.keyring) : check_new_slots(request.keyring);
}

std::unique_ptr<Session> seal(const SessionRequest& request) {
  check_request(request);
  const Secret file_key = random_secret(file_key_bytes);
  const Cipher cipher = request.cipher.value_or(Cipher::aes_256);
  std::vector<std::byte> header = make_sealed_header({cipher}, file_key, request.keyring, request.check);
  const std::vector<std::byte> context = message_context(header, request.label);
  return seal_message({cipher, file_key.bytes(), context}, std::move(header));
}

SlotDescription describe_slot(const Slot& slot) {
  const auto number = [&slot](std::size_t at) { return std::to_integer<unsigned>(slot.body[at]); };
  const auto type = static_cast<unsigned>(slot.type);
  const SlotKind* const kind = find_slot_kind(slot.type);
  if (kind == nullptr) return {type, fmt::format("unknown type {:02x}", type), {}};
  SlotDescription description{type, std::string(kind->name), {}};
  if (kind->key == KeyKind::passphrase)
    description.scrypt = ScryptParameters{number(0), number(1), number(2)};
  return description;
}

std::vector<std::byte> take_message_header(SealedSuite suite, HeaderReader& input) {
  std::vector<std::byte> header(suite.in_parts ? frame_header_bytes : message_header_bytes);
  input.take(header);
  return header;
}

// The beginning of a sealed input, through its first commitment, already verified; with
// SessionRequest::salvage, part 0 is not.
struct OpenedHeader {
  SealedHeader header;
  Secret file_key;
  std::vector<std::byte>
      message_header;  // what follows the header: salt and commitment, or the header of the first frame
  std::unique_ptr<Session> session;  // of the rest of the input
};

// Null if the message header does not match the file key and the label.
std::unique_ptr<Session> open_body(const OpenedHeader& opened, const SessionRequest& request) {
  const std::span<const std::byte> header = opened.header.bytes;
  const SealedSuite suite = opened.header.suite;
  const std::uint64_t taken = request.input->taken();
  const std::span<const std::byte> message_header = opened.message_header;
  if (!suite.in_parts) {
    const std::vector<std::byte> context = message_context(header, request.label);
    return open_message({suite.cipher, opened.file_key.bytes(), context},
                        message_header.first<message_header_bytes>(), {.input_bytes = taken});
  }
  const std::optional<FrameHeader> first = decode_frame(message_header.first<frame_header_bytes>());
  FrameSecret secret = make_frame_secret(suite.cipher, opened.file_key, header, request.label);
  const bool salvage = static_cast<bool>(request.salvage);
  const bool may_be_damaged = salvage && !request.index_first && !request.separate_header;
  if (request.index_first && !(first && is_index(*first, first->number)))
    refuse_header(header.size(), "the index is damaged");
  if (!request.index_first && !may_be_damaged && !(first && is_part(*first, 0, suite.cipher)))
    refuse_header(header.size(), "it is not followed by part 0");
  if (!may_be_damaged && !open_frame(secret, *first, {})) return nullptr;
  return make_parts_session(std::move(secret), first.value_or(FrameHeader{}), taken, salvage);
}

// Reads the whole header before it tries any secret, and verifies it before it reads anything after it. If
// `may_end`, the header of a file made of parts may be all there is; then there is no session.
OpenedHeader open_sealed_header(SessionRequest& request, bool may_end = false) {
  check_request(request);
  HeaderReader& input = *request.input;
  OpenedHeader opened{read_sealed_header(input, static_cast<bool>(request.salvage)), {}, {}, {}};
  const SealedHeader& header = opened.header;
  if (request.cipher && *request.cipher != header.suite.cipher)
    throw UsageError(fmt::format("the input was encrypted with {}, not {}", info(header.suite.cipher).name,
                                 info(*request.cipher).name),
                     Advice::omit_cipher);
  if (request.index_first && !header.suite.in_parts)
    throw AuthError("the header is not that of a file made of parts");
  const bool ends = may_end && header.suite.in_parts && input.peek(1).empty();
  if (!ends) opened.message_header = take_message_header(header.suite, input);
  opened.file_key = open_slots(header, request);
  if (ends) return opened;
  opened.session = open_body(opened, request);
  if (!opened.session) refuse_message_header(header.bytes.size());
  return opened;
}

// The kinds of its recipient slots.
std::vector<KeyKind> recipient_kinds(const SealedHeader& header) {
  std::vector<KeyKind> kinds;
  for (const Slot& slot : header.slots)
    if (is_for_recipient(slot)) kinds.push_back(find_slot_kind(slot.type)->key);
  return kinds;
}

bool has_sealed_suite(Cipher cipher) {
  return info(cipher).suite && info(cipher).suite->numbers;
}

std::unique_ptr<Session> open_sealed(SessionRequest request) {
  return request.decrypt ? open_sealed_header(request).session : seal(request);
}

Description describe_sealed(HeaderReader& input) {
  const SealedHeader header = read_sealed_header(input);
  if (!header.suite.in_parts) take_message_header(header.suite, input);
  Description description{.version = 1,
                          .suite = std::to_integer<unsigned>(header.bytes[sealed_context_bytes - 1]),
                          .cipher = header.suite.cipher,
                          .in_parts = header.suite.in_parts,
                          .message_bytes = header.suite.in_parts ? 0 : message_header_bytes,
                          .segments = SegmentRules{}};
  for (const Slot& slot : header.slots) description.slots.push_back(describe_slot(slot));
  return description;
}

NewHeader rekey_sealed(SessionRequest& request, const Keyring& new_keys) {
  check_new_slots(new_keys);
  const OpenedHeader opened = open_sealed_header(request, true);
  NewHeader made{.bytes = make_sealed_header(opened.header.suite, opened.file_key, new_keys, request.check),
                 .old_recipients = recipient_kinds(opened.header),
                 .old_slots = opened.header.slots.size(),
                 .new_slots = new_keys.keys.size(),
                 .slot_noun = "slot"};
  if (!request.index_first) append(made.bytes, opened.message_header);
  return made;
}

}  // namespace

void refuse_message_header(std::uint64_t at) {
  throw AuthError(fmt::format("the input is corrupt at byte {}, in its header, or was encrypted with a "
                              "different label; nothing was written",
                              at),
                  Advice::match_label);
}

// Requires at least one of: keys of 32 bytes, recipients (identities for decryption), a passphrase. A
// passphrase cannot be combined with recipients. Any one of them opens the file.
constinit const Format sealed_format{
    .name = "sealed",
    .authenticated = true,
    .magic = sealed_magic,
    .armor = "GPUAES-STREAM ENCRYPTED FILE",
    .accepts = {.keys = true, .recipients = true, .passphrase = true, .label = true, .range = true},
    .supports = has_sealed_suite,
    .open = open_sealed,
    .describe = describe_sealed,
    .rekey = rekey_sealed,
};

}  // namespace gpuaes
