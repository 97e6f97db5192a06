#include "run/endpoints.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "system/resources.hpp"

namespace gpuaes {

namespace {

// Waits for the other end of a FIFO, unless the input may be only a file.
Fd open_input_by_name(const InputRequest& input, Cancel& cancel) {
  if (!input.is_named()) return Fd(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  return open_file(input.file.name, O_RDONLY | O_NOCTTY | (input.only_file ? O_NONBLOCK : 0), cancel);
}

}  // namespace

InputFile open_input_file(const InputRequest& input, bool decrypt, Cancel& cancel) {
  return input.file.in_context([&]() -> InputFile {
    const std::string shown = input.file.shown();
    Fd fd = open_input_by_name(input, cancel);
    struct stat status {};
    if (fstat(fd.get(), &status) != 0) throw io_error("cannot open", shown, errno);
    const bool is_directory = S_ISDIR(status.st_mode);
    if (input.only_file) {
      if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode) && !is_directory)
        throw IoError(fmt::format("{} is not a regular file", shown));
      fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
    }
    if (!is_directory) return {FdSource(std::move(fd), shown, cancel)};
    if (!decrypt)
      throw IoError(
          fmt::format("{} is a directory", shown),
          "to encrypt a directory, run gpuaes-stream ... -- tar -c DIR; to encrypt each file in it, use "
          "--output-dir");
    if (!input.is_named()) throw IoError("standard input is a directory", "name it as an argument");
    PartsDirectory directory = open_parts_directory({std::move(fd), input.file.name},
                                                    "to decrypt each file in it, use --output-dir", cancel);
    FdSource head = open_needed(directory.directory, head_name, cancel);
    return {std::move(head), std::move(directory)};
  });
}

Endpoints open_input(const InputRequest& input, bool decrypt, Cancel& cancel) {
  if (input.command.empty()) {
    InputFile file = open_input_file(input, decrypt, cancel);
    return {.source = std::move(file.source), .directory = std::move(file.directory)};
  }
  Command command{input.command, fmt::format("the command '{}'", input.command.front()),
                  Command::Input::inherited};
  auto process = std::make_unique<ChildProcess>(std::move(command), cancel);
  FdSource source = process->output();
  return {.command = std::move(process), .source = std::move(source)};
}

std::uint64_t uncached_plaintext_bytes() {
  return std::max(large_output, available_memory() / 2);
}

SinkRules output_rules(const OutputRequest& output, const StreamRequest& stream,
                       std::optional<std::uint64_t> bytes, const Messages& messages) {
  using Terminal = SinkRules::Terminal;
  const Terminal unforced = stream.decrypt ? Terminal::text : Terminal::nothing;
  const bool may_be_large = bytes.value_or(large_output) >= large_output;  // else do not look up the memory
  return {.terminal = output.force || stream.format.armor ? Terminal::everything : unforced,
          .sparse = output.sparse,
          .bytes = bytes,
          .direct_from = stream.decrypt && may_be_large ? uncached_plaintext_bytes() : large_output,
          .warn = messages.warner()};
}

namespace {

// Keeps the output until the input ends, so that it does not appear in the middle of what is typed.
class HeldSink : public SinkWrapper {
 public:
  using SinkWrapper::SinkWrapper;

  void write(std::span<const std::byte> bytes) override { append(held_, bytes); }
  void finish() override {
    inner_.write(held_);
    inner_.finish();
  }

 private:
  std::vector<std::byte> held_;
};

}  // namespace

std::unique_ptr<Sink> open_output(const OutputRequest& output, const StreamRequest& stream,
                                  const std::optional<OutputTarget>& target, const FdSource& source,
                                  const Context& context) {
  if (!target) return std::make_unique<NullSink>(context.cancel);
  if (std::holds_alternative<IntoFile>(stream.mode)) return nullptr;
  const std::optional<std::uint64_t> bytes = stream.selects() ? std::nullopt : source.size();
  std::unique_ptr<Sink> sink =
      open_sink(*target, output_rules(output, stream, bytes, context.messages), context.cancel);
  if (!output.file && source.is_terminal() && isatty(STDOUT_FILENO) != 0)
    sink = std::make_unique<HeldSink>(std::move(sink));
  return sink;
}

void note_if_terminal(const FdSource& source, const Messages& messages) {
  if (source.is_terminal())
    messages.note(fmt::format(
        "reading {} from the terminal; press Ctrl-D at the beginning of a line to end it", source.name()));
}

}  // namespace gpuaes
