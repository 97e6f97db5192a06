#include "run/encrypted_key_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "format/format.hpp"
#include "format/header_reader.hpp"
#include "io/armor.hpp"
#include "io/source_sink.hpp"
#include "keys/kdf.hpp"
#include "lane/backends.hpp"
#include "process/terminal.hpp"
#include "run/endpoints.hpp"
#include "run/passphrases.hpp"

namespace gpuaes {
namespace {

// Bytes in memory.
class SpanSource : public Source {
 public:
  explicit SpanSource(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::size_t read(std::span<std::byte> out) override {
    const std::size_t count = std::min(out.size(), rest_.size());
    std::ranges::copy(rest_.first(count), out.begin());
    rest_ = rest_.subspan(count);
    return count;
  }
  bool ready(std::chrono::milliseconds) override { return true; }

 private:
  std::span<const std::byte> rest_;
};

// At most `max` bytes.
std::vector<std::byte> read_rest(Source& source, std::size_t max) {
  std::vector<std::byte> bytes(max);
  std::size_t size = 0;
  while (size < bytes.size()) {
    const std::size_t count = source.read(std::span(bytes).subspan(size));
    if (count == 0) break;
    size += count;
  }
  bytes.resize(size);
  return bytes;
}

// Decrypts the whole body at once.
Secret open_body(Session& session, std::span<const std::byte> body) {
  Secret plain(session.output_size(body.size(), true));
  const Piece piece{0, body, plain.bytes(), true};
  const std::unique_ptr<Lane> lane = make_cpu_lane();
  lane->start(session.job(piece));
  const Outcome outcome = session.verify(piece, lane->finish());
  if (outcome.error) throw *outcome.error;
  return plain;
}

AskPassphrase ask_for(const std::string& name, Cancel& cancel) {
  if (has_terminal()) return ask_passphrase(cancel);
  return [name](const std::string&, bool) -> std::optional<Secret> {
    throw UsageError(
        fmt::format("there is no terminal to ask for the passphrase of {}", name),
        name == standard_input_name
            ? "use gpuaes-stream -d --passphrase-file FILE to decrypt it first"
            : fmt::format("in bash, name <(gpuaes-stream -d --passphrase-file FILE {}) instead", name));
  };
}

}  // namespace

bool is_encrypted(std::span<const std::byte> contents) {
  bool found = false;
  for (const Format& format : all_formats())
    if (format.accepts.recipients)
      found |= has_prefix(contents, format.magic) || has_prefix(contents, armor_begin(format.armor));
  return found;
}

Secret decrypt_key_file(std::span<const std::byte> contents, const std::string& name, Cancel& cancel) {
  SpanSource source(contents);
  OpenedInput input(source, nullptr, std::nullopt);
  const Format& format = input.format(detect_format);
  SessionRequest request{.decrypt = true, .keyring = {{}, true}, .input_name = name};
  request.keyring.keys.push_back({.kind = KeyKind::passphrase, .passphrase = ask_for(name, cancel)});
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
    throw Error(error.exit(), name + ": " + error.what(), error.hint());
  }
}

}  // namespace gpuaes
