// Times work enqueued in CUDA streams.
#pragma once

#include <cstddef>
#include <deque>

#include "runtime.hpp"

namespace gpuaes::cuda {

class Streams {
 public:
  explicit Streams(std::size_t count = 1) : streams_(count) {}

  const Stream& operator[](std::size_t i) const { return streams_[i]; }

  // Seconds from the start of the first to the end of the last operation that `enqueue` puts into the first
  // `used` streams, by the device's clock.
  template <class Enqueue>
  double time(std::size_t used, const Enqueue& enqueue) const {
    const Stream& first = streams_[0];
    begin_.record(first);
    for (std::size_t i = 1; i < used; ++i) check(cudaStreamWaitEvent(streams_[i].get(), begin_.get()));
    enqueue();
    for (std::size_t i = 1; i < used; ++i) {
      const Event done;
      done.record(streams_[i]);
      check(cudaStreamWaitEvent(first.get(), done.get()));
    }
    end_.record(first);
    end_.wait();
    float milliseconds;
    check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    return milliseconds / 1000.0;
  }

 private:
  std::deque<Stream> streams_;
  Event begin_{cudaEventDefault}, end_{cudaEventDefault};
};

}  // namespace gpuaes::cuda
