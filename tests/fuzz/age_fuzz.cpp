// Any age file is opened, or refused with one of the documented errors; nothing after the header is read
// before that; and what is released does not depend on how the payload is divided. The seeds are the files of
// the test kit, which begin with fields and an empty line.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/format.hpp"
#include "format/header_reader.hpp"
#include "fuzz/fuzz.hpp"
#include "keys/recipient.hpp"
#include "lane/backends.hpp"

namespace gpuaes {
namespace {

// The identity of the test kit.
constexpr std::string_view identity =
    "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0";

std::vector<std::byte> release(const Session& session, std::span<const std::byte> body,
                               std::size_t piece_bytes) {
  const std::unique_ptr<Lane> lane = make_cpu_lane();
  std::vector<std::byte> released;
  for (std::size_t at = 0;; at += piece_bytes) {
    const auto in = body.subspan(at, std::min(piece_bytes, body.size() - at));
    const bool last = at + in.size() == body.size();
    std::vector<std::byte> out(session.output_size(in.size(), last));
    const Piece piece{at, in, out, last};
    lane->start(session.job(piece));
    const Outcome outcome = session.verify(piece, lane->finish());
    append(released, std::span(out).first(outcome.released));
    if (outcome.error || last) return released;
  }
}

}  // namespace

void fuzz(std::span<const std::byte> input) {
  const std::size_t fields =
      as_text(input).starts_with("expect") ? as_text(input).find("\n\n") : std::string::npos;
  if (fields != std::string::npos) input = input.subspan(fields + 2);
  const std::size_t size = input.size();
  HeaderReader header([&](std::span<std::byte> out) { return take_into(out, input); });
  try {
    SessionRequest request{.decrypt = true, .keyring = {parse_identities(identity, "the kit"), false}};
    request.input = &header;
    const auto session = open_session(find_format("age"), std::move(request));
    require(header.taken() == size - input.size());  // the pipeline would lose these bytes
    require(release(*session, input, session->unit_in()) == release(*session, input, 4 * session->unit_in()));
  } catch (const InputError&) {
  } catch (const IoError&) {  // libcrypto may lack ML-KEM
  }
}

}  // namespace gpuaes
