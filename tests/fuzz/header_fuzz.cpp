// Whatever an input begins with, it is opened or refused with an error of the contract, and nothing is read
// behind the header.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>

#include "error.hpp"
#include "format/format.hpp"

namespace gpuaes {
namespace {

// The key of the seed corpus (scripts/fuzz): 00 01 02 ...
Secret test_key() {
  Secret key(32);
  for (std::size_t i = 0; i < key.size(); ++i) key.bytes()[i] = static_cast<std::byte>(i);
  return key;
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
    if (format.takes.keys) request.keys.push_back(test_key());
    if (format.takes.iterations) request.iterations = 1;
    // Any of them: the sealed format, which would spend its time in scrypt, has a key to try first.
    request.passphrase = [&]() -> Secret {
      if (format.takes.keys) throw KeyError("the passphrase is asked for");
      return test_key();
    };
    const auto session = open_session(format, std::move(request));
    if (header.taken() != at) std::abort();  // looked at, and lost to the pipeline
    if (session->unit_in() == 0 || session->unit_out() == 0 || !session->header().empty()) std::abort();
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
