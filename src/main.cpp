// Options to a run, errors to messages and exit codes.

#include <fmt/ranges.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <new>
#include <system_error>

#include "filter.hpp"
#include "io/fd.hpp"
#include "io/signals.hpp"
#include "lane/lanes.hpp"
#include "messages.hpp"
#include "options.hpp"

namespace gpuaes {
namespace {

void print(const std::string& text) {
  Cancel cancel;
  FdSink sink(Fd(STDOUT_FILENO), "standard output", cancel);
  sink.write(std::as_bytes(std::span(text)));
  sink.finish();
}

void act(const Options& options, const Messages& messages) {
  switch (options.action) {
    case Options::Action::filter:
      return run_filter(options, messages);
    case Options::Action::help:
      return print(help_text());
    case Options::Action::version:
      return print("gpuaes-stream " GPUAES_VERSION "\n");
    case Options::Action::list_lanes:
      return print(fmt::format("{}\n", fmt::join(describe_lanes(), "\n")));
  }
}

int run(int argc, char** argv) {
  Messages messages;
  const bool pipe_was_ignored = ignore_write_signals();
  try {
    prctl(PR_SET_DUMPABLE, 0);  // no core dumps, no debugger: keys are in memory
    occupy_standard_descriptors();
    const Options options = parse_options(argc, argv);
    messages.set_level(options.level);
    act(options, messages);
    return static_cast<int>(Exit::ok);
  } catch (const PipeClosed& error) {
    if (!pipe_was_ignored) die_by(SIGPIPE);
    messages.error(error);
  } catch (const Error& error) {
    messages.error(error);
    return static_cast<int>(error.exit());
  } catch (const std::bad_alloc&) {
    messages.error("out of memory");
  } catch (const std::system_error& error) {
    messages.error(std::string("the system does not give what is needed, a thread perhaps: ") + error.what());
  } catch (const std::exception& error) {
    messages.error(std::string("system failure: ") + error.what());
  } catch (const Cancelled& cancelled) {
    if (cancelled.signal != 0) die_by(cancelled.signal);
  }
  return static_cast<int>(Exit::io);
}

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  return gpuaes::run(argc, argv);
}
