// Runs that read files made of parts, in memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/parts/session.hpp"
#include "lane/backends.hpp"
#include "pipeline/pipeline.hpp"
#include "process/control.hpp"
#include "run/salvage_stream.hpp"
#include "support/bytes.hpp"
#include "support/errors.hpp"
#include "support/memory_io.hpp"
#include "support/parts_file.hpp"
#include "support/scripted_lane.hpp"
#include "support/threads.hpp"

namespace gpuaes {

// The bytes of input before the first frame, in messages.
inline constexpr std::uint64_t bytes_before_frames = 100;

struct PartsSetup {
  Cipher cipher = Cipher::aes_256;
  bool seekable = false;
  bool salvage = false;
  std::size_t segments_a_chunk = 2;
  std::size_t ring_chunks = 4;
  std::size_t read_size = std::numeric_limits<std::size_t>::max();
  std::vector<LaneScript> lanes{{}, {.depth = 2, .copies = true}};
  std::unique_ptr<Lane> (*make_lane)() = make_cpu_lane;
  std::uint64_t seed = 0;
  std::chrono::microseconds max_delay{0};
};

struct PartsResult {
  Bytes out;
  std::string error;  // of the run, or the final error of --salvage
  std::vector<std::string> warnings;
};

namespace parts_rig {

inline void run(const Bytes& frames, const PartsSetup& setup, MemorySink& sink, Cancel& cancel,
                const Jitter& jitter, PartsResult& result) {
  const auto header = std::span(frames).first<frame_header_bytes>();
  const Bytes rest(frames.begin() + frame_header_bytes, frames.end());
  MemorySource source(rest,
                      {.read_size = setup.read_size,
                       .parallel = setup.seekable ? rest.size() : 0,
                       .sometimes_late = setup.seed % 2 == 1},
                      cancel, jitter);
  const FrameHeader first = decode_frame(header).value_or(FrameHeader{});
  const std::uint64_t input_bytes = bytes_before_frames + frame_header_bytes;
  auto session = make_parts_session(frame_secret(setup.cipher), first, input_bytes, setup.salvage);
  const auto parts = session->open_source(
      {.source = source, .size = setup.seekable ? std::optional(rest.size()) : std::nullopt});

  StreamParts stream_parts{.source = *parts, .sink = sink, .session = std::move(session), .parts = &*parts};
  std::unique_ptr<OpenStream> stream =
      setup.salvage
          ? std::make_unique<SalvageStream>(std::move(stream_parts),
                                            [&](const std::string& text) { result.warnings.push_back(text); })
          : std::make_unique<OpenStream>(std::move(stream_parts));
  Ring ring(setup.ring_chunks, setup.segments_a_chunk * sealed_segment_bytes,
            setup.segments_a_chunk * segment_bytes);
  Pipeline pipeline({.ring = ring,
                     .source = stream->source(),
                     .sink = stream->sink(),
                     .session = stream->session(),
                     .cancel = cancel,
                     .fallback_lane = setup.make_lane,
                     .warn = [](const std::string&) {}});
  for (const LaneScript& script : setup.lanes)
    pipeline.add_lane(stream->wrap(std::make_unique<ScriptedLane>(setup.make_lane(), script, jitter)));
  stream->run([&] { pipeline.run(); });
  if (const auto error = stream->final_error()) throw AuthError(*error);
}

}  // namespace parts_rig

// Decrypts a file made of parts, from its first frame on.
inline PartsResult read_parts(const Bytes& frames, const PartsSetup& setup) {
  Cancel cancel;
  const Control control{cancel};
  const Jitter jitter{setup.seed, setup.max_delay};
  MemorySink sink({}, cancel, jitter);
  PartsResult result;
  result.error = failure_of([&] { parts_rig::run(frames, setup, sink, cancel, jitter, result); });
  result.out = sink.bytes();
  return result;
}

}  // namespace gpuaes
