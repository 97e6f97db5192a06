#include "run/parts_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "lane/backends.hpp"

namespace gpuaes {

void refuse_parts(std::uint64_t at, std::string_view what) {
  throw AuthError(fmt::format("the input is corrupt at byte {}, in {}", at, what));
}

void open_index(const FrameSecret& secret, const FrameHeader& header, std::uint64_t at,
                const std::function<void(std::span<std::byte>)>& read,
                const std::function<void(std::span<const std::byte>)>& take) {
  const std::unique_ptr<Session> session = open_frame(secret, header, {.input_bytes = at});
  if (!session) refuse_parts(at - frame_header_bytes, "the header of the index");
  const std::unique_ptr<Lane> lane = make_cpu_lane();
  std::vector<std::byte> in_room(sealed_segment_bytes), out_room(segment_bytes);
  const std::uint64_t size = sealed_size(header.length);
  for (std::uint64_t offset = 0; offset < size; offset += in_room.size()) {
    const auto in = std::span(in_room).first(std::min<std::uint64_t>(in_room.size(), size - offset));
    const auto out = std::span(out_room).first(in.size() - tag_bytes);
    read(in);
    lane->start(session->job({offset, in, out}));
    if (lane->finish()) refuse_parts(at + offset, "the index");
    take(out);
  }
}

}  // namespace gpuaes
