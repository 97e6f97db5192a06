#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "format/parts/directory.hpp"
#include "format/parts/frames.hpp"
#include "io/directory.hpp"
#include "io/fd.hpp"
#include "io/fd_source_sink.hpp"
#include "parts/commands.hpp"
#include "parts/job_file.hpp"
#include "parts/part_file.hpp"
#include "terminal/context.hpp"

namespace gpuaes {
namespace {

struct RunningAttempt {
  Attempt attempt;
  std::uint64_t bytes;
  std::time_t idle_seconds;  // since it was last written
};

struct State {
  std::optional<std::uint32_t> count;  // of parts, if it is known
  bool joined = false;
  std::vector<std::uint32_t> missing;
  std::uint32_t complete = 0;
  std::uint64_t bytes = 0;  // of complete parts
  std::vector<RunningAttempt> attempts;
};

std::optional<std::uint32_t> find_count(const Directory& directory, const Context& context) {
  if (std::optional<FdSource> index = directory.open(index_name, context.cancel)) return read_count(*index);
  const std::optional<JobFile> job = read_job(directory, context);
  if (!job) require_joined(directory);
  return job->count != 0 ? std::optional(job->count) : std::nullopt;
}

// Space may be allocated ahead of the data, which ends at the first hole.
std::uint64_t written_bytes(const Directory& directory, const std::string& name, const struct stat& status) {
  const Fd fd(openat(directory.descriptor(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const off_t end = lseek(fd.get(), 0, SEEK_HOLE);
  return static_cast<std::uint64_t>(end < 0 ? status.st_size : end);
}

State read_state(const Directory& directory, const Context& context) {
  State state{.count = find_count(directory, context), .joined = directory.has(index_name)};
  const std::vector<std::string> names = directory.list();
  // A network file system may not list new files at once.
  const std::uint32_t count = state.count ? *state.count : count_listed(names);
  std::vector<std::optional<std::uint64_t>> sizes(count);
  for_each_at_once(count, [&](std::size_t i) {
    context.cancel.check();
    if (const auto file = directory.open(part_name(static_cast<std::uint32_t>(i)), context.cancel))
      sizes[i] = file->size();
  });
  for (std::uint32_t i = 0; i < count; ++i) {
    if (sizes[i])
      ++state.complete, state.bytes += *sizes[i];
    else
      state.missing.push_back(i);
  }
  for (const std::string& name : names) {
    const std::optional<Attempt> attempt = parse_attempt(name);
    const std::optional<struct stat> status = attempt ? directory.status_of(name) : std::nullopt;
    if (status && !S_ISDIR(status->st_mode))
      state.attempts.push_back({*attempt, written_bytes(directory, name, *status),
                                std::max<std::time_t>(std::time(nullptr) - status->st_mtime, 0)});
  }
  return state;
}

std::string to_text(const State& state) {
  std::string text;
  const auto line = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("{:<10}{}\n", name, value);
  };
  line("parts", state.count ? fmt::format("{}", *state.count) : "not known");
  line("complete", fmt::format("{}, {} bytes", state.complete, state.bytes));
  if (!state.missing.empty()) line("missing", ranges_text(state.missing));
  for (const RunningAttempt& each : state.attempts)
    line("attempt", fmt::format("{} by process {} on {}, {} bytes, last written {} s ago",
                                printable(each.attempt.file), printable(each.attempt.pid),
                                printable(each.attempt.host), each.bytes, each.idle_seconds));
  line("joined", state.joined ? "yes" : "no");
  return text;
}

std::string to_json(const State& state) {
  std::vector<std::string> attempts;
  for (const RunningAttempt& each : state.attempts)
    attempts.push_back(
        fmt::format(R"({{"file": {}, "host": {}, "process": {}, "bytes": {}, "idle_seconds": {}}})",
                    json_string(each.attempt.file), json_string(each.attempt.host),
                    json_string(each.attempt.pid), each.bytes, each.idle_seconds));
  return fmt::format(
      R"({{"parts": {}, "complete": {}, "bytes": {}, "missing": [{}], "attempts": [{}], "joined": {}}})"
      "\n",
      state.count ? fmt::format("{}", *state.count) : "null", state.complete, state.bytes,
      fmt::join(state.missing, ", "), fmt::join(attempts, ", "), state.joined);
}

}  // namespace

void run_status(const StatusRequest& request, const Messages& messages) {
  RunControl control(messages);
  const Directory directory(request.directory.name);
  const State state = read_state(directory, control.context);
  const auto show = [&control](const std::string& text) { print(text, control.cancel); };
  if (!request.missing) return show(request.json ? to_json(state) : to_text(state));
  if (!state.count)
    throw UsageError("--missing requires a plan with the number of parts", "make the plan with -n N");
  if (state.missing.empty()) return;
  show(ranges_text(state.missing) + "\n");
  throw Failed{Exit::io};
}

}  // namespace gpuaes
