#include "format/sealed.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/formats.hpp"
#include "format/header_reader.hpp"
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
  const bool has_public_key = !(request.decrypt ? request.identities.empty() : request.recipients.empty());
  if (request.keys.empty() && !has_public_key && !request.passphrase)
    throw UsageError("the sealed format requires a key or a passphrase");
  request.decrypt ? check_keys(request.keys)
                  : check_new_slots(request.keys, request.recipients, static_cast<bool>(request.passphrase));
}

std::unique_ptr<Session> seal(const SessionRequest& request) {
  check_request(request);
  std::optional<Secret> passphrase;
  if (request.passphrase) passphrase = request.passphrase();
  Secret file_key(file_key_bytes);
  fill_random(file_key.bytes());
  const Cipher cipher = request.cipher.value_or(Cipher::aes_256);
  std::vector<std::byte> header = make_sealed_header(
      cipher, file_key, {request.keys, request.recipients, passphrase ? &*passphrase : nullptr},
      request.check);
  const std::vector<std::byte> context = message_context(header, request.label);
  return seal_message({cipher, file_key.bytes(), context}, std::move(header));
}

SlotDescription describe_slot(const Slot& slot) {
  const auto number = [&slot](std::size_t at) { return std::to_integer<unsigned>(slot.body[at]); };
  const auto type = static_cast<unsigned>(slot.type);
  switch (slot.type) {
    case SlotType::key_file:
      return {type, "key file", {}};
    case SlotType::passphrase:
      return {type, "passphrase", ScryptParameters{number(0), number(1), number(2)}};
    case SlotType::x25519:
      return {type, "X25519 recipient", {}};
  }
  return {type, fmt::format("unknown type {:02x}", type), {}};
}

}  // namespace

// Reads the whole header before it tries any secret, and verifies it before it reads anything after it.
OpenedHeader open_sealed_header(const SessionRequest& request) {
  check_request(request);
  HeaderReader& input = *request.input;
  const SealedHeader header = read_sealed_header(input);
  if (request.cipher && *request.cipher != header.cipher)
    throw UsageError(fmt::format("the input was sealed with {}, not {}", info(header.cipher).name,
                                 info(*request.cipher).name),
                     "omit --cipher; the input names its cipher");
  OpenedHeader opened{header.cipher, has_slot(header, SlotType::x25519), {}, {}, {}};
  input.take(opened.message_header);
  opened.file_key = open_slots(header, {request.keys, request.identities, request.passphrase}, request.check);
  const std::vector<std::byte> context = message_context(header.bytes, request.label);
  opened.session =
      open_message({header.cipher, opened.file_key.bytes(), context}, opened.message_header, input.taken());
  if (!opened.session)
    throw AuthError(fmt::format("the input is corrupt at byte {}, in its header, or was sealed with a "
                                "different label; nothing was written",
                                header.bytes.size()),
                    "--label must be the text the input was sealed with, or omitted if there was none");
  return opened;
}

std::unique_ptr<Session> open_sealed(SessionRequest request) {
  return request.decrypt ? open_sealed_header(request).session : seal(request);
}

Description describe_sealed(HeaderReader& input) {
  const SealedHeader header = read_sealed_header(input);
  std::array<std::byte, message_header_bytes> message_header;
  input.take(message_header);
  Description description{.version = 1,
                          .suite = std::to_integer<unsigned>(header.bytes[sealed_context_bytes - 1]),
                          .cipher = header.cipher,
                          .segments = true};
  for (const Slot& slot : header.slots) description.slots.push_back(describe_slot(slot));
  return description;
}

}  // namespace gpuaes
