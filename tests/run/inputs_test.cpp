// The loop over the inputs of a command line, where the system lacks memory, threads or descriptors.
#include "run/inputs.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "support/catch.hpp"
#include "support/files.hpp"

namespace gpuaes {
namespace {

// Many small inputs, and what is done for each: `work` is called with the number of the input, of the attempt
// for it, from 1, and of the inputs that run.
template <class Work>
class ManyInputs : public InputRun {
 public:
  ManyInputs(int count, Work work) : work_(std::move(work)) {
    for (int i = 0; i < count; ++i) {
      const std::string name = folder_ / std::to_string(i);
      write_file(name, {});
      inputs_.named.push_back({.file = {.name = name}});
    }
    messages_.set_level(Messages::Level::quiet);
  }

  InputRules rules() const override { return {.side_by_side = true, .verb = "done"}; }

  InputResult run(const InputRequest& input, const Context&, bool) override {
    int attempt = 0;
    {
      const std::lock_guard lock(mutex_);
      attempt = ++attempts_[input.file.name];
    }
    const Running running(running_);
    work_(std::stoi(input.file.name.substr(input.file.name.rfind('/') + 1)), attempt, running_.load());
    return {};
  }

  void at_end(const InputCounts& counts) override { counts_ = counts; }

  // Returns the status at the end.
  Exit run_all() {
    Cancel cancel;
    try {
      for_each_input(inputs_, {messages_, cancel}, *this);
    } catch (const Failed& failed) {
      return failed.exit;
    }
    return Exit::ok;
  }

  const InputCounts& counts() const { return counts_; }

  int max_attempts() const {
    int max = 0;
    for (const auto& [name, count] : attempts_) max = std::max(max, count);
    return max;
  }

 private:
  struct Running {
    explicit Running(std::atomic<int>& now) : count(now) { ++count; }
    ~Running() { --count; }
    std::atomic<int>& count;
  };

  const Work work_;
  TempDir folder_;
  InputsRequest inputs_;
  Messages messages_{"test"};
  InputCounts counts_{};
  std::mutex mutex_;
  std::map<std::string, int> attempts_;
  std::atomic<int> running_ = 0;
};

void take_time() {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

template <class Failure>
void check_retries(const Failure& failure) {
  ManyInputs inputs(100, [&](int, int, int running) {
    take_time();
    if (running > 3) failure();
  });
  const Exit status = inputs.run_all();
  CHECK(status == Exit::ok);
  CHECK(inputs.counts().done == 100);
  CHECK(inputs.counts().failed == 0);
  CHECK(inputs.max_attempts() == 2);
}

}  // namespace

TEST_CASE("inputs that lack memory, threads or descriptors next to others are tried again alone") {
  check_retries([] { throw std::bad_alloc(); });
  check_retries([] { throw IoError("no memory", Advice::raise_memory_limit); });
  check_retries([] { throw LaneError("no ring", Advice::use_smaller_chunks); });
  check_retries([] { throw IoError("no descriptor", Advice::raise_file_limit); });
  check_retries(
      [] { throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again)); });
}

TEST_CASE("an input that lacks memory alone has failed, and the others are done") {
  ManyInputs inputs(100, [](int number, int, int) {
    take_time();
    if (number % 10 == 5) throw std::bad_alloc();
  });
  const Exit status = inputs.run_all();
  CHECK(status == Exit::io);
  CHECK(inputs.counts().done == 90);
  CHECK(inputs.counts().failed == 10);
  CHECK(inputs.max_attempts() == 2);
}

TEST_CASE("inputs with other errors are not tried again") {
  ManyInputs inputs(100, [](int number, int, int) {
    take_time();
    if (number % 10 == 5) throw AuthError("damaged");
  });
  const Exit status = inputs.run_all();
  CHECK(status == Exit::auth);
  CHECK(inputs.counts().failed == 10);
  CHECK(inputs.max_attempts() == 1);
}

}  // namespace gpuaes
