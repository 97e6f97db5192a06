#include "bench/timing.hpp"

namespace gpuaes::cuda {

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

// Each stream takes what is next to the device, has it worked on, and takes it back. Pieces that are under
// way at the same time are apart.
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
