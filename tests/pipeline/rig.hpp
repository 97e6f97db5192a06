// A pipeline with a real session between a source and a sink in memory, for tests.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "cipher/modes/aead.hpp"
#include "cipher/modes/segments.hpp"
#include "format/format.hpp"
#include "io/fd_source_sink.hpp"
#include "lane/backends.hpp"
#include "pipeline/pipeline.hpp"
#include "process/control.hpp"
#include "support/aes_reference.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/io_support.hpp"
#include "support/keys.hpp"
#include "support/memory_io.hpp"
#include "support/reference_lane.hpp"
#include "support/scripted_lane.hpp"
#include "support/threads.hpp"

namespace gpuaes {

constexpr std::size_t unit = 16;
inline const CounterBlock first_counter = counter_block("fffffffffffffffffffffffffffffff0");  // carries soon

inline Bytes cipher_key() {
  return test_bytes(32, 7);
}

// The expected output for the first `size` test bytes.
inline Bytes expected_output(std::size_t size) {
  return libcrypto_ctr(cipher_key(), first_counter, test_bytes(size));
}

// What sealing the first `size` test bytes must give, by libcrypto.
inline Bytes sealed_bytes(std::size_t size, const Nonce& base_nonce, const SegmentRules& rules = {}) {
  const Bytes text = test_bytes(size);
  EvpAead aead(Cipher::aes_256, cipher_key(), EvpAead::Use::seal);
  Bytes out;
  bool is_last = false;
  for (std::size_t at = 0; !is_last; at += rules.plain_bytes) {
    const auto part = std::span(text).subspan(at, std::min(rules.plain_bytes, size - at));
    is_last = part.size() < rules.plain_bytes || (rules.last_may_be_full() && at + part.size() == size);
    Bytes segment(part.size() + tag_bytes);
    aead.seal(segment_nonce(base_nonce, at / rules.plain_bytes, rules, is_last), {}, part,
              std::span(segment).first(part.size()), std::span(segment).last(tag_bytes));
    append(out, segment);
  }
  return out;
}

inline std::unique_ptr<Session> raw_session() {
  SessionRequest request;
  request.keyring.keys.push_back(key_file(cipher_key()));
  request.iv = "fffffffffffffffffffffffffffffff0";
  return raw_format.open(std::move(request));
}

inline std::size_t whole(std::size_t size, std::size_t of) {
  return size / of * of;
}

using SessionFactory = std::unique_ptr<Session> (*)();

struct Setup {
  std::size_t size = 0;  // of an input of test bytes
  std::optional<Bytes> input{};
  SessionFactory session = raw_session;
  std::size_t chunk_bytes = 64;
  std::size_t ring_chunks = 4;
  SourceScript source{};
  std::uint64_t sink_fails_at = never;
  std::uint64_t sink_waits_at = never;
  std::optional<std::size_t> sink_place{};
  LaneFactory fallback_lane{};
  std::uint64_t seed = 0;
  std::chrono::microseconds max_delay{0};
};

// A pipeline between a source and a sink in memory. Cancel owns the process's signal handlers, so only one
// rig may exist at a time.
struct Rig {
  explicit Rig(Setup with)
      : setup(std::move(with)),
        source(setup.input.value_or(test_bytes(setup.size)), setup.source, cancel, jitter),
        sink({.fail_at = setup.sink_fails_at, .wait_at = setup.sink_waits_at, .place = setup.sink_place},
             cancel, jitter) {}

  PipelineParts parts(Source& from, Sink& to) {
    return {.ring = ring,
            .source = from,
            .sink = to,
            .session = *session,
            .cancel = cancel,
            .fallback_lane = setup.fallback_lane,
            .warn = [this](const std::string& text) {
              const std::lock_guard lock(mutex);
              warned.push_back(text);
            }};
  }

  // Uses the slow reference for small inputs.
  std::unique_ptr<Lane> lane(LaneScript script = {}) {
    const bool small = setup.size <= 4096 && jitter.random() % 2 == 0;
    return std::make_unique<ScriptedLane>(small ? make_reference_lane() : make_cpu_lane(), std::move(script),
                                          jitter);
  }

  void add_lanes(std::size_t count, LaneScript script = {}) {
    for (std::size_t i = 0; i < count; ++i) pipeline.add_lane(lane(script));
  }

  void replace_lanes(std::size_t count, LaneScript script = {}) {
    std::vector<std::unique_ptr<Lane>> lanes;
    for (std::size_t i = 0; i < count; ++i) lanes.push_back(lane(script));
    pipeline.replace_lanes(std::move(lanes));
  }

  // Runs to the end. Returns the error, or nothing.
  std::string run() {
    return failure_of([this] { pipeline.run(); });
  }

  std::string wrong_output(std::size_t size) const { return difference(sink.bytes(), expected_output(size)); }

  std::size_t warnings() const {
    const std::lock_guard lock(mutex);
    return warned.size();
  }

  Setup setup;
  Jitter jitter{setup.seed, setup.max_delay};
  Cancel cancel;
  Control control{cancel};
  std::unique_ptr<Session> session = setup.session();
  Ring ring{setup.ring_chunks, setup.chunk_bytes,
            setup.chunk_bytes / session->unit_in() * session->unit_out()};
  MemorySource source;
  MemorySink sink;
  mutable std::mutex mutex;
  std::vector<std::string> warned;
  Pipeline pipeline{parts(source, sink)};
};

// A rig's pipeline with a pipe as its source.
struct PipeFed {
  explicit PipeFed(Rig& rig)
      : source(std::move(pipe.reader), "pipe", rig.cancel), pipeline(rig.parts(source, rig.sink)) {}

  // Runs to the end in a separate thread. Returns the error, or nothing.
  std::future<std::string> start() {
    return in_thread([this] { return failure_of([this] { pipeline.run(); }); });
  }

  PipeEnds pipe = make_pipe();
  FdSource source;
  Pipeline pipeline;
};

// A gate that blocks threads until it is opened, and counts the threads that have reached it.
class Gate {
 public:
  void open() { promise_.set_value(); }
  void wait() {
    ++arrived_;
    future_.wait();
  }
  bool reached_by(unsigned count) const {
    return eventually([&] { return arrived_ >= count; });
  }

 private:
  std::promise<void> promise_;
  std::shared_future<void> future_ = promise_.get_future().share();
  std::atomic<unsigned> arrived_ = 0;
};

}  // namespace gpuaes
