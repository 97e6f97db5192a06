#include "process/control.hpp"

#include <signal.h>

// Only the necessary headers: <boost/asio.hpp> in Boost 1.74 does not compile as C++20 with g++ 12.
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "process/signals.hpp"

namespace gpuaes {
namespace {

constexpr std::chrono::milliseconds interrupt_interval{5};

// Signals that end a program by default and that other processes send, except SIGPIPE and real-time signals.
constexpr std::array stop_signals{SIGINT,  SIGTERM,   SIGHUP,  SIGQUIT, SIGXCPU, SIGALRM,
                                  SIGUSR2, SIGVTALRM, SIGPROF, SIGPWR,  SIGIO,   SIGSTKFLT};

bool is_ignored(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

}  // namespace

// The function to call, shared by the control thread and the owner of the calls.
struct Control::Calls::Target {
  std::mutex mutex;
  std::function<void()> function;  // empty once the calls are over

  // False if the calls are over.
  bool call() {
    const std::lock_guard lock(mutex);
    if (function) function();
    return function != nullptr;
  }
  void end() {
    const std::lock_guard lock(mutex);
    function = nullptr;
  }
};

// The thread is created at the start, because it might not be possible later. Only this thread receives the
// signals: ThreadSanitizer delays a signal to a thread that waits for a mutex.
struct Control::Loop {
  // Blocks these signals and SIGUSR1 in the calling thread and in threads that it creates, until destruction.
  class SignalsBlocked {
   public:
    SignalsBlocked() {
      sigset_t stopping;
      sigemptyset(&stopping);
      sigaddset(&stopping, SIGUSR1);
      for (const int signal : stop_signals) sigaddset(&stopping, signal);
      pthread_sigmask(SIG_BLOCK, &stopping, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

    // For the control thread: restores the previous mask, but blocks the job-control signals, which are for
    // the thread that prompts.
    void lift() const {
      sigset_t mask = before_;
      JobSignals::add_to(mask);
      pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    }

   private:
    sigset_t before_;
  };

  explicit Loop(Cancel& to_request) : cancel(to_request) {
    for (const int signal : stop_signals)
      if (!is_ignored(signal)) signals.add(signal);
    signals.add(SIGUSR1);
    wait_for_signal();
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    JobSignals::block_in_this_thread();  // inherited by the new thread, which never receives them
    thread = std::jthread([this](const std::stop_token& over) { run(over); });
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  }

  ~Loop() {
    thread.join();
    signals.clear();
    ::signal(SIGUSR1, SIG_IGN);  // before it is unblocked
  }

  // A wait is always pending; otherwise context.run() would return.
  void wait_for_signal() {
    signals.async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      if (signal != SIGUSR1)
        cancel.request(signal);
      else if (user_signal)
        user_signal->call();
      wait_for_signal();
    });
  }

  // Calls the target after `time` and then every `interval`, until the calls are over.
  using Timer = std::shared_ptr<boost::asio::steady_timer>;
  static void call_after(std::chrono::milliseconds time, std::chrono::milliseconds interval,
                         const std::shared_ptr<Calls::Target>& target, const Timer& timer) {
    timer->expires_after(time);
    timer->async_wait([=](const boost::system::error_code& error) {
      if (!error && target->call()) call_after(interval, interval, target, timer);
    });
  }

  // A request to stop ends context.run(). From then on, unless it is withdrawn, the context runs only between
  // interruptions.
  void run(const std::stop_token& over) {
    blocked.lift();
    for (; !over.stop_requested(); context.restart()) {
      if (cancel.interrupt())
        context.run_for(interrupt_interval);
      else
        context.run();
    }
  }

  Cancel& cancel;
  const SignalsBlocked blocked;
  boost::asio::io_context context{1};
  boost::asio::signal_set signals{context};
  std::shared_ptr<Calls::Target> user_signal;  // used only by the control thread
  std::jthread thread;                         // last: joined before the other members are destroyed
};

Control::Control(Cancel& cancel) : loop_(std::make_unique<Loop>(cancel)) {
  cancel.on_request([this] { loop_->context.stop(); });
}

Control::~Control() {
  loop_->cancel.on_request({});
  loop_->thread.request_stop();
  loop_->context.stop();
}

Control::Calls Control::every(std::chrono::milliseconds first, std::chrono::milliseconds interval,
                              std::function<void()> function) const {
  Calls calls(std::move(function));
  boost::asio::post(loop_->context, [loop = loop_.get(), target = calls.target_, first, interval] {
    loop->call_after(first, interval, target, std::make_shared<boost::asio::steady_timer>(loop->context));
  });
  return calls;
}

Control::Calls Control::on_user_signal(std::function<void()> function) const {
  Calls calls(std::move(function));
  boost::asio::post(loop_->context,
                    [loop = loop_.get(), target = calls.target_] { loop->user_signal = target; });
  return calls;
}

Control::Calls::Calls(std::function<void()> function) : target_(std::make_shared<Target>()) {
  target_->function = std::move(function);
}

Control::Calls& Control::Calls::operator=(Calls&& other) noexcept {
  std::swap(target_, other.target_);  // the old calls end when `other` is destroyed
  return *this;
}

Control::Calls::~Calls() {
  if (target_) target_->end();
}

}  // namespace gpuaes
