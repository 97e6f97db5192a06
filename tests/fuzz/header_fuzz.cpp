// Whatever an input begins with, it is opened or refused with an error of the contract, and nothing is read
// behind the header. Of what comes there a sealed stream releases only what was sealed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "format/format.hpp"
#include "lane/backends.hpp"

namespace gpuaes {
namespace {

// The key, and the identity, of the seed corpus (tests/fuzz/corpus): 00 01 02 ...
Secret test_key() {
  Secret key(32);
  for (std::size_t i = 0; i < key.size(); ++i) key.bytes()[i] = static_cast<std::byte>(i);
  return key;
}

// What the streams of the seed corpus hold: nobody makes another one that the key opens.
constexpr std::string_view text = "some text\n";

void open_rest(const Format& format, const Session& session, std::span<const std::byte> rest) {
  const auto lane = make_cpu_lane();
  std::vector<std::byte> out(session.output_size(rest.size(), true));
  const Piece piece{0, rest, out};
  lane->start(session.job(piece));
  const Outcome outcome = session.verify(piece, true, lane->finish());
  if (!format.authenticated) return;
  if (outcome.released != (outcome.error ? 0 : text.size())) std::abort();
  if (!std::ranges::equal(std::span(out).first(outcome.released),
                          std::as_bytes(std::span(text)).first(outcome.released)))
    std::abort();
}

void open(std::span<const std::byte> input) {
  std::size_t at = 0;
  HeaderReader header([&](std::span<std::byte> out) {
    const std::size_t count = std::min(out.size(), input.size() - at);
    std::ranges::copy(input.subspan(at, count), out.begin());
    at += count;
    return count;
  });
  try {
    const Format& format = detect_format(header);
    SessionRequest request;
    request.decrypt = true;
    request.input = &header;
    if (format.accepts.keys) request.keys.push_back(test_key());
    if (format.accepts.recipients) request.identities.push_back({test_key(), public_key_of(test_key())});
    if (format.accepts.iterations) request.iterations = 1;
    // Any of them: the sealed format, which would spend its time in scrypt, has a key to try first.
    request.passphrase = [&]() -> Secret {
      if (format.accepts.keys) throw KeyError("the passphrase is asked for");
      return test_key();
    };
    const auto session = open_session(format, std::move(request));
    if (header.taken() != at) std::abort();  // looked at, and lost to the pipeline
    if (session->unit_in() == 0 || session->unit_out() == 0 || !session->header().empty()) std::abort();
    open_rest(format, *session, input.subspan(at));
  } catch (const KeyError&) {
  } catch (const AuthError&) {
  } catch (const IoError&) {
  }
}

}  // namespace
}  // namespace gpuaes

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gpuaes::open(std::as_bytes(std::span(data, size)));
  return 0;
}
