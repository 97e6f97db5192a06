// An input with any header is opened, or refused with one of the documented errors, and nothing after the
// header is read. A sealed stream then releases only the plaintext that was sealed.
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/format.hpp"
#include "format/header_reader.hpp"
#include "fuzz/fuzz.hpp"
#include "lane/backends.hpp"

namespace gpuaes {
namespace {

// The key, and also the identity, of the seed corpus (tests/fuzz/corpus): 00 01 02 ...
Secret test_key() {
  Secret key(32);
  for (std::size_t i = 0; i < key.size(); ++i) key.bytes()[i] = static_cast<std::byte>(i);
  return key;
}

// The plaintext of the seed corpus. The fuzzer cannot make another stream that the key opens.
constexpr std::string_view text = "some text\n";

void open_rest(const Format& format, const Session& session, std::span<const std::byte> rest) {
  const auto lane = make_cpu_lane();
  std::vector<std::byte> out(session.output_size(rest.size(), true));
  const Piece piece{0, rest, out, true};
  lane->start(session.job(piece));
  const Outcome outcome = session.verify(piece, lane->finish());
  if (!format.authenticated) return;
  require(as_text(std::span(out).first(outcome.released)) == (outcome.error ? "" : text));
}

}  // namespace

void fuzz(std::span<const std::byte> input) {
  const std::size_t size = input.size();
  HeaderReader header([&](std::span<std::byte> out) { return take_into(out, input); });
  try {
    const Format& format = detect_format(header);
    SessionRequest request;
    request.decrypt = true;
    request.input = &header;
    if (format.accepts.keys)
      request.keyring.keys.push_back({.kind = KeyKind::key_file, .secret = test_key()});
    if (format.accepts.recipients)
      for (const KeyKind kind : {KeyKind::x25519, KeyKind::xwing})
        request.keyring.keys.push_back({.kind = kind, .secret = test_key()});
    if (format.accepts.iterations) request.iterations = 1;
    // Any passphrase. With formats that use scrypt, it would take too long.
    request.keyring.keys.push_back(
        {.kind = KeyKind::passphrase, .passphrase = [&](const std::string&, bool) -> std::optional<Secret> {
           if (format.accepts.recipients) throw KeyError("the passphrase is asked for");
           return test_key();
         }});
    const auto session = open_session(format, std::move(request));
    require(header.taken() == size - input.size());  // the pipeline would lose these bytes
    require(session->unit_in() > 0 && session->unit_out() > 0 && session->header().empty());
    open_rest(format, *session, input);
  } catch (const InputError&) {
  } catch (const IoError&) {
  }
}

}  // namespace gpuaes
