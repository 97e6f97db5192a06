#include "bench/timing.hpp"

#include <algorithm>
#include <utility>

namespace gpuaes::cuda {

double Streams::time(std::size_t used, const std::function<void()>& enqueue) const {
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

double median(const Runs& runs, const std::function<double()>& time) {
  double spent = 0;
  for (std::size_t run = 0; run < runs.warm_ups && spent < runs.seconds; ++run) spent += time();
  spent = 0;
  std::vector<double> seconds;
  while (seconds.size() < runs.timed && (seconds.size() < runs.min_timed || spent < runs.seconds)) {
    seconds.push_back(time());
    spent += seconds.back();
  }
  return median(std::move(seconds));
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double LaunchTimes::resident(const BenchKernel& kernel, std::size_t size, const Runs& runs) {
  return median(runs, [&] {
    report_.cancel().check();
    return streams_.time(1, [&] {
      for (std::size_t i = 0; i < launches_of(size); ++i)
        kernel.launch(data_.next(kernel.mode(), size), streams_[0]);
    });
  });
}

double LaunchTimes::with_copies(const CopiedLaunches& what, const Runs& runs) {
  if (host_ == nullptr) host_ = std::make_unique<HostData>(sealed_size(data_.capacity()));
  const InOut all = in_out_of(what.mode, data_.piece(what.mode, 0, data_.capacity()));
  host_->fill(all);
  return median(runs, [&] {
    report_.cancel().check();
    data_.begin_round();
    return streams_.time(what.streams, [&] { enqueue(what, all); });
  });
}

// Each stream copies its next piece to the device, launches the kernel and copies the output back. Pieces in
// flight do not overlap.
void LaunchTimes::enqueue(const CopiedLaunches& what, const InOut& all) {
  for (std::size_t i = 0; i < what.launches; ++i) {
    const Stream& stream = streams_[i % what.streams];
    const BenchData::Piece piece = data_.next(what.mode, what.size);
    const InOut in_out = in_out_of(what.mode, piece);
    check(cudaMemcpyAsync(in_out.in, host_->in(all, in_out), in_out.in_bytes, cudaMemcpyHostToDevice,
                          stream.get()));
    if (what.kernel != nullptr) what.kernel->launch(piece, stream);
    check(cudaMemcpyAsync(host_->out(all, in_out), in_out.out, in_out.out_bytes, cudaMemcpyDeviceToHost,
                          stream.get()));
  }
}

}  // namespace gpuaes::cuda
