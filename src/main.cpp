// Options to a run, errors to messages and exit codes.

#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <new>

#include "filter.hpp"
#include "io/fd.hpp"
#include "io/signals.hpp"
#include "lane/lanes.hpp"
#include "messages.hpp"
#include "options.hpp"

namespace gpuaes {
namespace {

void print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
    throw IoError("cannot write standard output");
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
      for (const std::string& line : describe_lanes()) print(line + "\n");
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
