// The stream that a run moves: a session between its source and its sink. The whole of an input is one kind;
// ranges (range_stream.hpp) and what can be salvaged (salvage_stream.hpp) are others.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "cli/messages.hpp"
#include "cli/options.hpp"
#include "format/format.hpp"
#include "io/source_sink.hpp"
#include "lane/lane.hpp"
#include "lane/plan.hpp"
#include "run/endpoints.hpp"
#include "run/secrets.hpp"

namespace gpuaes {

// An opened session, and the ends of the run. The ends outlive the stream.
struct StreamParts {
  Source& source;  // begins with the body
  Sink& sink;
  std::unique_ptr<Session> session;
  bool authenticated = true;
  std::uint64_t header_bytes = 0;               // of the input, before the body
  std::optional<std::uint64_t> body_bytes{};    // of files and block devices
  std::optional<std::uint64_t> stated_bytes{};  // of the whole input, as --size says
  const char* damage_hint = "";                 // for the AuthError of a damaged body
};

// Everything that a run needs to know of its stream, so that it need not know which kind this is.
class OpenStream {
 public:
  explicit OpenStream(StreamParts parts) : parts_(std::move(parts)) {}
  virtual ~OpenStream() = default;

  // The source, the session and the sink of the pipeline.
  virtual Source& source() { return parts_.source; }
  virtual const Session& session() const { return *parts_.session; }
  virtual Sink& sink() { return parts_.sink; }

  // What a plan of lanes is made for, with chunks of `chunk_bytes` if the user asked for a size.
  Workload workload(std::optional<std::size_t> chunk_bytes);

  // Whether lanes may write outputs over their inputs, and how each lane of the run is wrapped.
  virtual bool in_place() { return source().parallel_size() > 0; }
  virtual std::unique_ptr<Lane> wrap(std::unique_ptr<Lane> lane) { return lane; }

  // Bytes of input: before the body, and all that the run will read, where that is known.
  std::uint64_t header_bytes() const { return parts_.header_bytes; }
  std::optional<std::uint64_t> expected_bytes() const;

  // Bytes that went to the output, of which the pipeline wrote `body`.
  virtual std::uint64_t bytes_out(std::uint64_t body) const { return body; }

  // Writes what comes before the body, calls `run_pipeline`, and finishes the sink.
  void run(const std::function<void()>& run_pipeline);

  // What is wrong with an input whose stream was moved to its end anyway.
  virtual std::optional<AuthError> final_error() const { return std::nullopt; }

 protected:
  StreamParts parts_;

 private:
  virtual std::optional<std::uint64_t> body_bytes() const { return parts_.body_bytes; }
  virtual void write_header() {}
};

// Opens the stream that `options` ask for, and warns where its format or its keys do not authenticate. Takes
// the header off the input. UsageError if the format cannot do what `options` ask for; KeyError, AuthError
// and IoError as open_session(), and RangeStream where --range is given.
std::unique_ptr<OpenStream> open_stream(const Options& options, Secrets secrets, Endpoints& endpoints,
                                        const Messages& messages, Cancel& cancel);

}  // namespace gpuaes
