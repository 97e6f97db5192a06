// The stream that a run processes: a session with its source and sink. It is the whole input, a range of it
// (range_stream.hpp), or its undamaged parts (salvage_stream.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "cli/requests.hpp"
#include "format/format.hpp"
#include "io/source_sink.hpp"
#include "lane/lane.hpp"
#include "lane/plan.hpp"
#include "run/endpoints.hpp"
#include "secrets/secrets.hpp"
#include "terminal/context.hpp"

namespace gpuaes {

// An open session, and the source and sink of the run, which must outlive the stream.
struct StreamParts {
  Source& source;  // positioned at the body
  Sink& sink;
  std::unique_ptr<Session> session;
  const char* verb = "decrypted";  // what a run that succeeds has done, for messages
  bool authenticated = true;
  bool may_be_cbc = false;                    // Format::may_be_cbc, for input of unknown length
  const FdSource* watched = nullptr;          // the input if its modification causes a warning
  bool from_command = false;                  // whose output should not be empty
  std::uint64_t header_bytes = 0;             // of the input, before the body
  const BodySource* parts = nullptr;          // if the body is in parts: counts the bytes between them
  std::optional<std::uint64_t> body_bytes{};  // if the input is a file or block device
  Hint damage_hint{};                         // for the AuthError of a damaged body
  std::string header_damage{};                // with --salvage, as from SessionRequest::salvage
};

// Everything that a run needs to know about its stream, whatever its kind.
class OpenStream {
 public:
  explicit OpenStream(StreamParts parts) : parts_(std::move(parts)) {}
  virtual ~OpenStream() = default;

  // The source, the session and the sink of the pipeline.
  virtual Source& source() { return parts_.source; }
  virtual const Session& session() const { return *parts_.session; }
  virtual Sink& sink() { return parts_.sink; }

  // The workload for plan_lanes(). `chunk_bytes` is the chunk size that the user requested, if any.
  Workload workload(std::optional<std::size_t> chunk_bytes);

  // Whether the output of a job may overwrite its input.
  virtual bool in_place() { return source().parallel_size() > 0; }

  // Adapts a lane of the run to the kind of stream.
  virtual std::unique_ptr<Lane> wrap(std::unique_ptr<Lane> lane) { return lane; }

  // Bytes of input: outside the body so far, and in total, if known.
  std::uint64_t header_bytes() const;
  std::optional<std::uint64_t> expected_bytes() const;

  // Total bytes of output, once the pipeline has written `body` bytes to sink().
  virtual std::uint64_t bytes_out(std::uint64_t body) const { return body; }

  // For the last message of a run: a verb such as "decrypted", and the bytes of plaintext, given the total
  // bytes of input and output.
  const char* verb() const { return parts_.verb; }
  virtual std::uint64_t plain_bytes(std::uint64_t, std::uint64_t out) const { return out; }

  // As in Session, of the whole stream.
  std::span<const std::byte> commitment() const { return parts_.session->commitment(); }

  // Writes the header, if any, calls `run_pipeline` unless there is nothing to do, and finishes the sink.
  void run(const std::function<void()>& run_pipeline);

  // After run(), which has read `body` bytes: a warning about the input, or empty.
  std::string input_warning(std::uint64_t body) const;

  // The error for an input that was processed to its end despite damage.
  virtual std::optional<AuthError> final_error() const { return std::nullopt; }

 protected:
  StreamParts parts_;

 private:
  virtual std::optional<std::uint64_t> body_bytes() const { return parts_.body_bytes; }
  virtual void write_header() {}
  virtual bool is_done() const { return false; }  // asked after the header was written

  std::string input_warning_;
};

// All of `parts.source`, to encrypt or to decrypt.
std::unique_ptr<OpenStream> make_whole_stream(StreamParts parts, bool decrypts);

// Calls `action`. Adds a hint to an AuthError that has none.
template <class Action>
auto with_hint(const Hint& hint, const Action& action) {
  try {
    return action();
  } catch (AuthError& error) {
    if (error.hint().empty()) error.set_hint(hint);
    throw;
  }
}

// The steps of opening a stream that all modes share.
class StreamOpening {
 public:
  // Chooses the format, and checks options that do not depend on the mode.
  StreamOpening(const StreamRequest& requested, const InputRequest& input, Keyring keyring, Endpoints& ends,
                const Context& of_run);

  const StreamRequest& stream;
  Endpoints& endpoints;
  const Context& context;
  const std::string option;  // that requests the mode, or ""
  const Format& format;

  // UsageError unless the format is authenticated, for an option that verifies; or supports an option.
  void require_authentication(const std::string& verifier) const;
  void require(bool supported, const std::string& what, const std::vector<std::string_view>& formats) const;

  // Opens the session with `open`, and warns if the format does not authenticate.
  using OpenSession = std::function<std::unique_ptr<Session>(const Format&, SessionRequest)>;
  std::unique_ptr<Session> session(const OpenSession& open = open_session);

  // The parts of the stream, with endpoints.output as its sink. `for_damage` is the hint for a damaged body.
  StreamParts parts(std::unique_ptr<Session> session, const Hint& for_damage = Advice::recover_undamaged);

 private:
  Hint damage_hint(const Hint& hint) const;  // this one, unless it is --salvage and that is not possible
  OpenedInput* encrypted() const { return endpoints.encrypted.get(); }  // null to encrypt
  bool is_armored() const { return encrypted() != nullptr && encrypted()->is_armored(); }

  SessionRequest request_;
};

// Opens the stream that is requested, and reads the header from the input. Warns if the format or the keys do
// not authenticate. UsageError if the format does not support the options; KeyError, AuthError and IoError as
// in open_session() and, with --range, in RangeStream.
std::unique_ptr<OpenStream> open_stream(const StreamRequest& stream, const InputRequest& input,
                                        Keyring keyring, Endpoints& endpoints, const Context& context);

}  // namespace gpuaes
