#include "cli/program.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <boost/system/system_error.hpp>
#include <new>
#include <string_view>
#include <system_error>

#include "base/error.hpp"
#include "io/fd.hpp"
#include "process/signals.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

// Allocates no memory.
void report_out_of_memory(std::string_view name) noexcept {
  const auto part = [](std::string_view text) { return iovec{const_cast<char*>(text.data()), text.size()}; };
  const std::array parts{part(name), part(": error: "), part("out of memory"), part("\n")};
  [[maybe_unused]] const auto written = writev(STDERR_FILENO, parts.data(), parts.size());
}

int run(std::string_view name, const std::function<void(Messages&)>& act) {
  Messages messages{std::string(name)};
  const bool pipe_was_ignored = ignore_signals();
  try {
    fit_threads_to_limits();
    prctl(PR_SET_DUMPABLE, 0);  // no core dumps, no debugger: keys are in memory
    // libcrypto's cleanup at exit takes time and frees only global data. Contexts, which contain keys, are
    // wiped and freed where they are used. The tables of all ciphers and digests take time to fill, and only
    // functions older than providers search them.
    OPENSSL_init_crypto(
        OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_ADD_ALL_CIPHERS | OPENSSL_INIT_NO_ADD_ALL_DIGESTS, nullptr);
    occupy_standard_descriptors();
    act(messages);
    return static_cast<int>(Exit::ok);
  } catch (const PipeClosed& error) {
    if (!pipe_was_ignored) die_by(SIGPIPE);
    messages.error(error);
  } catch (const Error& error) {
    messages.error(error);
    return static_cast<int>(error.exit());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const boost::system::system_error& error) {  // not a std::system_error in Boost 1.74
    messages.error(missing_resource(error.code()));
  } catch (const std::system_error& error) {
    messages.error(missing_resource(error.code()));
  } catch (const std::exception& error) {
    messages.error(fmt::format("unexpected error: {}", error.what()));
  } catch (const Failed& failed) {
    return static_cast<int>(failed.exit);
  } catch (const Cancelled& cancelled) {
    if (cancelled.signal != 0) die_by(cancelled.signal);
  }
  return static_cast<int>(Exit::io);
}

}  // namespace

int run_program(std::string_view name, const std::function<void(Messages&)>& act) {
  try {
    return run(name, act);
  } catch (const std::bad_alloc&) {  // possibly while reporting another error
    report_out_of_memory(name);
    return static_cast<int>(Exit::io);
  }
}

}  // namespace gpuaes
