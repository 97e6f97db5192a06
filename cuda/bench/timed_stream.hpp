// Times work enqueued in a CUDA stream.
#pragma once

#include "runtime.hpp"

namespace gpuaes::cuda {

class TimedStream {
 public:
  const Stream& stream() const { return stream_; }

  // Seconds from the start of the first to the end of the last operation that `enqueue` puts into the stream,
  // by the device's clock.
  template <class Enqueue>
  double time(const Enqueue& enqueue) const {
    begin_.record(stream_);
    enqueue();
    end_.record(stream_);
    end_.wait();
    float milliseconds;
    check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    return milliseconds / 1000.0;
  }

 private:
  Stream stream_;
  Event begin_{cudaEventDefault}, end_{cudaEventDefault};
};

}  // namespace gpuaes::cuda
