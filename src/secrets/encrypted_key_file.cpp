#include "secrets/encrypted_key_file.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/format.hpp"
#include "format/header_reader.hpp"
#include "format/opened_input.hpp"
#include "format/sessions.hpp"
#include "io/source_sink.hpp"
#include "secrets/passphrases.hpp"

namespace gpuaes {
namespace {

// Bytes in memory.
class SpanSource : public Source {
 public:
  explicit SpanSource(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::size_t read(std::span<std::byte> out) override { return take_into(out, rest_); }
  bool ready(std::chrono::milliseconds) override { return true; }

 private:
  std::span<const std::byte> rest_;
};

// At most `max` bytes.
std::vector<std::byte> read_rest(Source& source, std::size_t max) {
  std::vector<std::byte> bytes(max);
  std::size_t size = 0;
  while (const std::size_t count = source.read(std::span(bytes).subspan(size))) size += count;
  bytes.resize(size);
  return bytes;
}

// Decrypts the whole body at once.
Secret open_body(Session& session, std::span<const std::byte> body) {
  Secret plain(session.output_size(body.size(), true));
  const Outcome outcome = run_piece(session, {0, body, plain.bytes(), true});
  if (outcome.error) throw *outcome.error;
  return plain;
}

// For a run without a terminal, in which no passphrase can be given for key files.
std::string decrypt_first_hint(const NamedFile& file) {
  if (file.is_standard()) return "use gpuaes-stream -d --passphrase-file FILE to decrypt it first";
  return fmt::format("in bash, name <(gpuaes-stream -d --passphrase-file FILE {}) instead", file.name);
}

Secret decrypt(const SecretFile& encrypted, unsigned attempts, const AskPassphrase* given, Cancel& cancel) {
  const std::string name = encrypted.name();
  const std::span<const std::byte> contents = encrypted.contents.bytes();
  SpanSource source(contents);
  OpenedInput input(source, nullptr);
  const Format& format = input.format(detect_format);
  const std::string hint = given != nullptr ? give_passphrase_hint : decrypt_first_hint(encrypted.file);
  SessionRequest request{.decrypt = true, .keyring = {{}, true}, .input_name = name};
  request.keyring.keys.push_back(
      {.kind = KeyKind::passphrase,
       .passphrase =
           ask_for_file(name, hint, attempts, given != nullptr ? *given : AskPassphrase(), cancel)});
  request.input = &input.header;
  request.check = [&cancel] { cancel.check(); };
  try {
    const std::unique_ptr<Session> session = open_session(format, std::move(request));
    if (session->open_source({input.body()}))
      throw UsageError(fmt::format("{} is a file in parts, which cannot contain a key", name));
    const std::vector<std::byte> body = read_rest(input.body(), contents.size());
    return open_body(*session, body);
  } catch (const UnsuitableInput&) {
    throw UsageError(
        fmt::format("{} is not encrypted with a passphrase", name),
        "a key file can be encrypted only with a passphrase, which is asked for on the terminal");
  } catch (const KeyError&) {
    throw Error(Exit::key, fmt::format("the passphrase does not open {}", name));
  } catch (const InputError& error) {  // which would be reported as one of the input
    const bool is_damaged = error.hint().advice == Advice::recover_undamaged;
    throw Error(error.exit(), name + ": " + error.what(), is_damaged ? copy_again_hint : error.hint());
  }
}

}  // namespace

SecretFile decrypt_key_file(const SecretFile& encrypted, unsigned attempts, const AskPassphrase* given,
                            Cancel& cancel) {
  Secret plain = decrypt(encrypted, attempts, given, cancel);
  if (plain.size() > max_file_bytes)
    throw UsageError(fmt::format("{} contains more than {} bytes, which is too long for a file of keys",
                                 encrypted.name(), max_file_bytes));
  return {encrypted.file, std::move(plain)};
}

}  // namespace gpuaes
