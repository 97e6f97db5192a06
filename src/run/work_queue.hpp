// Threads that do small pieces of work side by side.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace gpuaes {

// What each of several threads takes while it does a piece of work.
struct ThreadNeeds {
  std::size_t descriptors;
  std::uint64_t bytes;  // of memory, including the stack of the thread
};

// How many threads can have what they need, at least 1 and at most `max`, if something else may need
// `extra_bytes` of memory at the same time.
std::size_t threads_for(const ThreadNeeds& needs, std::size_t max, std::uint64_t extra_bytes = 0);

// The owner calls add() and wait() from one thread.
template <class Item>
class WorkQueue {
 public:
  using Work = std::function<void(const Item& item)>;

  // Calls `work` in up to that many threads, which are started when there is something to do.
  WorkQueue(std::size_t threads, Work work) : max_threads_(threads), work_(std::move(work)) {}
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // Work that has not begun is not done.
  ~WorkQueue() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      items_.clear();
    }
    added_.notify_all();
  }

  // Adds an item once there is room, or does it if no thread can be created. Throws what `work` has thrown
  // for the first item that failed, after which no more work begins.
  void add(Item item) {
    std::unique_lock lock(mutex_);
    if (items_.size() >= 2 * max_threads_) done_.wait(lock, [this] { return items_.size() <= max_threads_; });
    if (failure_) wait_and_throw(lock);
    items_.push_back(std::move(item));
    if (waiting_ < items_.size() && threads_.size() < max_threads_) start_thread();
    if (threads_.empty()) return do_item(lock);
    lock.unlock();
    added_.notify_one();
  }

  // Waits until all items are done. Throws the same.
  void wait() {
    std::unique_lock lock(mutex_);
    wait_and_throw(lock);
  }

 private:
  void wait_and_throw(std::unique_lock<std::mutex>& lock) {
    done_.wait(lock, [this] { return items_.empty() && busy_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
  }

  void start_thread() try {
    threads_.emplace_back([this] { do_items(); });
  } catch (const std::system_error&) {  // there are too many
  }

  void do_items() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++waiting_;
      added_.wait(lock, [this] { return closed_ || !items_.empty(); });
      --waiting_;
      if (items_.empty()) return;
      do_item(lock);
    }
  }

  void do_item(std::unique_lock<std::mutex>& lock) {
    const Item item = std::move(items_.front());
    items_.pop_front();
    const std::size_t number = begun_++;
    ++busy_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      work_(item);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --busy_;
    if (failure && number < failed_) {
      failure_ = failure;
      failed_ = number;
    }
    if (failure_) items_.clear();
    if (items_.size() <= max_threads_) done_.notify_one();
  }

  const std::size_t max_threads_;
  const Work work_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable added_, done_;
  std::deque<Item> items_;
  std::size_t waiting_ = 0, busy_ = 0;  // threads
  bool closed_ = false;
  std::size_t begun_ = 0;  // items
  std::exception_ptr failure_;
  std::size_t failed_ = std::numeric_limits<std::size_t>::max();  // the number of that item
  std::vector<std::jthread> threads_;                             // last: they use the other members
};

}  // namespace gpuaes
