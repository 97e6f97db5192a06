#include "format/sealed.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/formats.hpp"
#include "format/header_reader.hpp"
#include "format/parts/session.hpp"
#include "format/wrapped_keys.hpp"
#include "keys/kdf.hpp"

namespace gpuaes {
namespace {

// gpuaes-stream(5), "Message" and "Labels": magic, suite, label. The slots are left out, so they can be
// replaced without encrypting the file again.
std::vector<std::byte> message_context(std::span<const std::byte> header,
                                       const std::optional<std::string>& label) {
  std::vector<std::byte> context;
  append(context, header.first(sealed_context_bytes));
  if (label) append(context, bytes_of(*label));
  return context;
}

void check_request(const SessionRequest& request) {
  if (request.keyring.keys.empty() && !request.keyring.none_given)
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

// Valid as long as the arguments.
std::vector<OldSlot> old_slots(const SealedHeader& header, const SessionRequest& request) {
  std::vector<OldSlot> slots;
  for (const Slot& slot : header.slots) {
    const SlotKind* const kind = find_slot_kind(slot.type);
    slots.push_back(
        {describe_slot(slot), kind != nullptr ? std::optional(kind->key) : std::nullopt,
         [=, &slot, &request](const Key& key) { return kind->unwrap(slot, key, request).has_value(); }});
  }
  return slots;
}

std::vector<std::byte> take_message_header(SealedSuite suite, HeaderReader& input) {
  std::vector<std::byte> header(suite.in_parts ? frame_header_bytes : message_header_bytes);
  input.take(header);
  return header;
}

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
  if (request.index_first && !(first && is_index(*first, first->number)))
    refuse_header(header.size(), "the index is damaged");
  if (!request.index_first && !salvage && !(first && is_part(*first, 0, suite.cipher)))
    refuse_header(header.size(), "it is not followed by part 0");
  if ((request.index_first || !salvage) && !open_frame(secret, *first, {})) return nullptr;
  return std::make_unique<PartsSession>(std::move(secret), first.value_or(FrameHeader{}), taken, salvage);
}

}  // namespace

void refuse_message_header(std::uint64_t at) {
  throw AuthError(fmt::format("the input is corrupt at byte {}, in its header, or was sealed with a "
                              "different label; nothing was written",
                              at),
                  Advice::match_label);
}

// Reads the whole header before it tries any secret, and verifies it before it reads anything after it.
OpenedHeader open_sealed_header(const SessionRequest& request) {
  check_request(request);
  HeaderReader& input = *request.input;
  OpenedHeader opened{read_sealed_header(input, static_cast<bool>(request.salvage)), {}, {}, {}};
  const SealedHeader& header = opened.header;
  if (request.cipher && *request.cipher != header.suite.cipher)
    throw UsageError(fmt::format("the input was sealed with {}, not {}", info(header.suite.cipher).name,
                                 info(*request.cipher).name),
                     Advice::omit_cipher);
  if (request.index_first && !header.suite.in_parts)
    throw AuthError("the header is not that of a file made of parts");
  opened.message_header = take_message_header(header.suite, input);
  opened.file_key = open_slots(header, request);
  opened.session = open_body(opened, request);
  if (!opened.session) refuse_message_header(header.bytes.size());
  return opened;
}

std::unique_ptr<Session> open_sealed(SessionRequest request) {
  return request.decrypt ? open_sealed_header(request).session : seal(request);
}

NewHeader rekey_sealed(const SessionRequest& request, const Keyring& new_keys) {
  check_new_slots(new_keys);
  const OpenedHeader opened = open_sealed_header(request);
  NewHeader made{make_sealed_header(opened.header.suite, opened.file_key, new_keys, request.check),
                 recipient_kinds(opened.header)};
  if (!request.index_first) append(made.bytes, opened.message_header);
  HeaderReader header = reader_of(made.bytes);
  made.now = describe_sealed(header);
  made.removed = removed_slots(old_slots(opened.header, request), made.now.slots, new_keys, request);
  return made;
}

Description describe_sealed(HeaderReader& input) {
  const SealedHeader header = read_sealed_header(input);
  if (!header.suite.in_parts) take_message_header(header.suite, input);
  Description description{.version = 1,
                          .suite = std::to_integer<unsigned>(header.bytes[sealed_context_bytes - 1]),
                          .cipher = header.suite.cipher,
                          .in_parts = header.suite.in_parts,
                          .segments = SegmentRules{}};
  for (const Slot& slot : header.slots) description.slots.push_back(describe_slot(slot));
  return description;
}

}  // namespace gpuaes
