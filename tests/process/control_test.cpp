// Timers and SIGUSR1 on the control thread.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "io/cancel.hpp"
#include "process/control.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/io_support.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds soon{1}, never_soon{1000000};

}  // namespace

TEST_CASE("a timer calls its function repeatedly on another thread, and never after its destruction") {
  Cancel cancel;
  const Control control(cancel);
  std::atomic<int> count{0};
  std::atomic<bool> elsewhere{true};
  const auto here = std::this_thread::get_id();
  {
    const Control::Calls calls = control.every(soon, soon, [&] {
      elsewhere = elsewhere && std::this_thread::get_id() != here;
      ++count;
    });
    CHECK(eventually([&] { return count >= 5; }));
  }
  const int at_end = count;
  std::this_thread::sleep_for(milliseconds(20));
  CHECK(count == at_end);
  CHECK(elsewhere);
}

TEST_CASE("destroying a timer waits for a running call") {
  Cancel cancel;
  const Control control(cancel);
  for (int i = 0; i < 50; ++i) {
    std::atomic<bool> in_call{false};
    std::optional<Control::Calls> calls = control.every({}, soon, [&] {
      in_call = true;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      in_call = false;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(i * 40));
    calls.reset();
    CHECK_FALSE(in_call);
  }
}

TEST_CASE("a timer keeps its intervals, and continues after a request to stop") {
  Cancel cancel;
  const Control control(cancel);
  std::atomic<int> later{0}, once{0}, after_stop{0};
  const Control::Calls a = control.every(never_soon, soon, [&] { ++later; });
  const Control::Calls b = control.every(soon, never_soon, [&] { ++once; });
  CHECK(eventually([&] { return once == 1; }));
  cancel.request(0);
  const Control::Calls c = control.every(soon, soon, [&] { ++after_stop; });
  CHECK(eventually([&] { return after_stop >= 3; }));
  CHECK(later == 0);
  CHECK(once == 1);
}

TEST_CASE("timers end when they are replaced and when their control is destroyed") {
  Cancel cancel;
  std::atomic<int> first{0}, second{0};
  Control::Calls calls;
  {
    const Control control(cancel);
    calls = control.every(soon, soon, [&] { ++first; });
    CHECK(eventually([&] { return first > 0; }));
    calls = control.every(soon, soon, [&] { ++second; });
    const int at_end = first;
    CHECK(eventually([&] { return second > 2; }));
    CHECK(first == at_end);
  }
  const int at_end = second;
  std::this_thread::sleep_for(milliseconds(20));
  CHECK(second == at_end);
}

TEST_CASE("every SIGUSR1 calls the function, and interrupts and stops nothing", "[fork]") {
  CHECK(exit_of_child([] {
          Cancel cancel;
          const Control control(cancel);
          PipeEnds pipe = make_pipe();
          std::atomic<int> count{0};
          const Control::Calls calls = control.on_user_signal([&] { ++count; });
          std::thread reader([&] {
            char byte = 0;
            if (read(pipe.reader.get(), &byte, 1) != 1) _exit(1);  // as with EINTR
          });
          for (int i = 1; i <= 3; ++i) {
            kill(getpid(), SIGUSR1);
            if (!eventually([&] { return count >= i; })) return 2;
          }
          put(pipe.writer, test_bytes(1));
          reader.join();
          return cancel.requested() ? 3 : 0;
        }) == 0);
}

}  // namespace gpuaes
