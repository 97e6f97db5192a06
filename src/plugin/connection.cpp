#include "plugin/connection.hpp"

#include <fmt/format.h>
#include <limits.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/base64.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "format/age_header.hpp"
#include "keys/plugin.hpp"
#include "plugin/program.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t first_buffer_bytes = 4096, max_message_bytes = 1 << 20;

// All messages of one run. More than the header of an age file can hold.
constexpr std::uint64_t max_received_bytes = 16 << 20;
constexpr std::uint64_t max_messages = 4096, max_arguments = 1024;

constexpr std::chrono::seconds silence{5};

// How long a plugin may take to end after its pipes were closed, and again after SIGINT.
constexpr std::chrono::seconds moment{1};

// ^C ends the plugin too, perhaps before this program has received the signal.
constexpr std::chrono::milliseconds signal_delay{100};

Command command_for(const std::string& plugin, const std::string& state_machine) {
  return {.words = {find_program(plugin), "--age-plugin=" + state_machine},
          .name = program_name(plugin),
          .input = Command::Input::pipe,
          .directory = "/"};
}

// The bytes that the lines of a body encode; none if they are malformed.
std::optional<Secret> decode_body(std::string_view lines) {
  const auto newlines = static_cast<std::size_t>(std::ranges::count(lines, '\n'));
  Secret body(base64_bytes(lines.size() - newlines));
  for (std::size_t done = 0; !lines.empty();) {
    const std::string_view line = take_line(lines);
    const std::size_t size = base64_bytes(line.size());
    if (line.size() > stanza_line_characters || !decode_secret_base64(line, body.bytes().subspan(done, size)))
      return std::nullopt;
    done += size;
  }
  return body;
}

}  // namespace

void refuse_message(const std::string& program, std::string_view what) {
  throw PluginError(fmt::format("{} violates the age plugin protocol: {}", program, what));
}

Connection::Connection(const std::string& plugin, const std::string& state_machine,
                       std::function<void()> on_silence, Cancel& cancel)
    : program_(program_name(plugin)),
      on_silence_(std::move(on_silence)),
      cancel_(cancel),
      child_(command_for(plugin, state_machine), cancel),
      source_(child_.output()),
      sink_(child_.input()),
      buffer_(first_buffer_bytes) {
  source_->at_end({});
  child_.start();
}

Connection::~Connection() {
  sink_.reset();
  source_.reset();
  const int signal = cancel_.signal();
  if (signal != 0 || !child_.ends_within(moment)) child_.stop(signal != 0 ? signal : SIGINT, moment);
}

void Connection::send(const std::vector<std::string_view>& arguments, std::span<const std::byte> body) {
  const Secret text = stanza_text(arguments, body);
  try {
    for (std::span<const std::byte> rest = text.bytes(); !rest.empty();) {
      const auto piece =
          rest.first(std::min<std::size_t>(rest.size(), PIPE_BUF));  // a pipe has room for that
      await(*sink_);
      sink_->write(piece);
      rest = rest.subspan(piece.size());
    }
  } catch (const PipeClosed&) {
  }
}

// A plugin that has ended may have started a process that still holds its pipes open.
template <class End>
void Connection::await(End& end) {
  while (!end.ready(silence)) {
    if (child_.ends_within({})) refuse_end();
    on_silence_();
  }
}

Message Connection::receive() {
  if (++messages_ > max_messages)
    refuse_message(program_, fmt::format("it sent more than {} messages", max_messages));
  std::ranges::copy(buffer_.bytes().subspan(taken_, filled_ - taken_), buffer_.bytes().begin());
  filled_ -= std::exchange(taken_, 0);
  const std::string_view first = next_line();
  if (!first.starts_with(stanza_mark)) refuse_message(program_, "expected the start of a message");
  std::optional<std::vector<std::string>> arguments = parse_arguments(first.substr(stanza_mark.size()));
  if (!arguments) refuse_message(program_, "an argument is empty or contains an invalid character");
  if (arguments->size() > max_arguments) refuse_message(program_, "a message has too many arguments");
  const std::size_t body_at = taken_;
  while (next_line().size() >= stanza_line_characters) {
  }
  std::optional<Secret> body = decode_body(as_text(buffer_.bytes().subspan(body_at, taken_ - body_at)));
  if (!body) refuse_message(program_, "the body of a message is not canonical Base64");
  return {std::move(*arguments), std::move(*body)};
}

// Without its newline; valid until the next call.
std::string_view Connection::next_line() {
  for (std::size_t searched = taken_;;) {
    const std::string_view text = as_text(buffer_.bytes().first(filled_));
    const std::size_t end = text.find('\n', searched);
    if (std::min(end, filled_) - taken_ > max_stanza_line_bytes)
      refuse_message(program_, "a line is too long");
    if (end != text.npos) {
      const std::size_t begin = std::exchange(taken_, end + 1);
      return text.substr(begin, end - begin);
    }
    searched = filled_;
    read_more();
  }
}

void Connection::read_more() {
  if (filled_ == max_message_bytes) refuse_message(program_, "a message is too long");
  if (filled_ == buffer_.size()) {
    Secret larger(2 * buffer_.size());
    std::ranges::copy(buffer_.bytes(), larger.bytes().begin());
    buffer_ = std::move(larger);
  }
  await(*source_);
  const std::size_t count = source_->read(buffer_.bytes().subspan(filled_));
  if (count == 0) refuse_end();
  filled_ += count;
  received_ += count;
  if (received_ > max_received_bytes)
    refuse_message(program_, fmt::format("it sent more than {} MiB", max_received_bytes >> 20));
}

void Connection::refuse_end() {
  sink_.reset();
  const std::string failure = child_.ends_within(moment) ? child_.failure() : "";
  std::this_thread::sleep_for(signal_delay);
  cancel_.check();
  throw PluginError(failure.empty() ? fmt::format("{} ended before it was done", program_)
                                    : fmt::format("{} {}", program_, failure));
}

}  // namespace gpuaes
