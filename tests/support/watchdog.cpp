// Ends a test program that hangs, and names the test case. A test cannot end a thread that waits forever, and
// CTest would only report a timeout.
#include "support/listener.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "support/memory_io.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

// The longest test cases take a few seconds; sanitizers and a busy machine slow them down.
constexpr std::chrono::seconds max_seconds{240};

class Watchdog : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    ListenerBase::testCaseStarting(info);
    thread_ = std::jthread([name = std::string(info.name)](const std::stop_token& end) {
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any never;
      if (!never.wait_for(lock, end, max_seconds, [] { return false; }) && !end.stop_requested())
        give_up("watchdog: '" + name + "' hangs");
    });
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    thread_ = {};
    ListenerBase::testCaseEnded(stats);
  }

 private:
  std::jthread thread_;
};

CATCH_REGISTER_LISTENER(Watchdog)

}  // namespace
}  // namespace gpuaes
