#include "run/inputs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "base/text.hpp"
#include "io/fd_source_sink.hpp"
#include "run/work_queue.hpp"

namespace gpuaes {
namespace {

// Small inputs mostly wait for the disk, so there are more threads than CPUs.
constexpr std::size_t threads_for_small_inputs = 16;

// Does the work for inputs, and counts them.
class InputLoop {
 public:
  InputLoop(bool several, const Messages& messages, Cancel& cancel, const InputWork& work)
      : several_(several), messages_(messages), cancel_(cancel), work_(work) {}

  // From any thread, unless `alone`.
  void run(const InputRequest& input, bool alone) {
    const std::string shown = several_ || input.is_named() ? shown_name(input.name) : "";
    std::string text;
    try {
      name_input(shown, [&] { text = work_.run(input, messages_.for_input(shown, several_), alone); });
      const std::lock_guard lock(mutex_);
      ++done_;
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      if (!several_) throw;
      if (alone) cancel_.withdraw_failure();
      fail(error);
      if (work_.describe_failure) text = work_.describe_failure(input, error);
    }
    print(text);
  }

  // "2,998 of 3,000 files encrypted, 2 failed".
  std::string summary() const {
    const std::uint64_t all = done_ + failed_;
    std::string text = with_commas(done_);
    if (done_ < all) text += fmt::format(" of {}", with_commas(all));
    text += fmt::format(" file{} {}", all == 1 ? "" : "s", work_.verb);
    if (failed_ > 0) text += fmt::format(", {} failed", with_commas(failed_));
    return text;
  }

  void finish() {
    if (output_) output_->finish();
    if (work_.at_end) work_.at_end();
    if (!work_.verb.empty()) messages_.note(summary());
    if (worst_ != Exit::ok) throw Failed{worst_};
  }

 private:
  // Exit::usage is for errors that concern all inputs.
  void fail(const Error& error) {
    messages_.error(error);
    const std::lock_guard lock(mutex_);
    ++failed_;
    worst_ = std::max(worst_, error.exit() == Exit::usage ? Exit::io : error.exit());
  }

  void print(const std::string& text) {
    if (text.empty()) return;
    const std::lock_guard lock(mutex_);
    if (!output_) output_ = open_standard_sink(STDOUT_FILENO, cancel_);
    output_->write(std::as_bytes(std::span(text)));
  }

  const bool several_;
  const Messages& messages_;
  Cancel& cancel_;
  const InputWork& work_;

  std::mutex mutex_;                // guards the members below
  std::unique_ptr<FdSink> output_;  // opened only for text, since it may be the output of the run
  std::uint64_t done_ = 0, failed_ = 0;
  Exit worst_ = Exit::ok;
};

}  // namespace

void name_input(const std::string& name, const std::function<void()>& action) {
  try {
    action();
  } catch (InputError& error) {
    error.within(name);
    throw;
  }
}

void for_each_input(const std::vector<InputRequest>& inputs, const Messages& messages, Cancel& cancel,
                    const InputWork& work) {
  InputLoop loop(inputs.size() > 1 || !work.verb.empty(), messages, cancel, work);
  WorkQueue<InputRequest> small(threads_for_small_inputs,
                                [&loop](const InputRequest& input) { loop.run(input, false); });
  for (const InputRequest& input : inputs) {
    if (work.is_small && work.is_small(input)) {
      small.add(input);
    } else {
      small.wait();
      loop.run(input, true);
    }
  }
  small.wait();
  loop.finish();
}

}  // namespace gpuaes
