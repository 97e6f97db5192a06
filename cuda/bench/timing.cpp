#include "bench/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "lane/backends.hpp"

namespace gpuaes::cuda {
namespace {

std::size_t launches_of(std::size_t size) {
  constexpr std::size_t bytes_of_run = std::size_t{256} << 20, max_launches = 1000;
  return std::clamp<std::size_t>(bytes_of_run / size, 1, max_launches);
}

std::vector<std::byte> on_cpu(Operation operation, const CipherKey& key, std::span<const std::byte> in,
                              std::size_t out_bytes) {
  std::vector<std::byte> out(out_bytes);
  const std::unique_ptr<Lane> cpu = make_cpu_lane();
  cpu->start({.operation = operation,
              .key = &key,
              .in = in,
              .out = out,
              .counter = bench_counter,
              .rules = info(key.cipher).segments,
              .base_nonce = bench_nonce(key.cipher)});
  cpu->finish();
  return out;
}

}  // namespace

// The output is cleared first because it may hold the right result of an earlier kernel.
void KernelTimer::check(const BenchKernel& kernel, std::size_t size) {
  const BenchData::Piece piece = data_.piece(kernel.mode(), 0, size, kernel.rules());
  const std::span plain = std::span(data_.plain()).first(size);
  const bool opens = kernel.mode() == Operation::open;
  std::vector<std::byte> expected(plain.begin(), plain.end());
  if (opens) {
    const std::vector<std::byte> sealed = on_cpu(Operation::seal, kernel.key(), plain, piece.in_bytes);
    cuda::check(cudaMemcpy(piece.in, sealed.data(), sealed.size(), cudaMemcpyHostToDevice));
  } else {
    expected = on_cpu(kernel.mode(), kernel.key(), plain, piece.out_bytes);
  }
  cuda::check(cudaMemset(piece.out, 0, piece.out_bytes));
  cuda::check(cudaDeviceSynchronize());
  kernel.launch(piece, timed_.stream());
  timed_.stream().wait();
  if (copy_of(piece.out, piece.out_bytes) != expected)
    throw LaneError(fmt::format("wrong output on the device: {}, {} bytes", kernel.name(), size));
  if (opens) check_opened(kernel);
}

void KernelTimer::seal_all(const BenchKernel& sealer, std::size_t size) {
  data_.begin_round();
  for (std::size_t i = 0; i < data_.pieces(Operation::seal, size); ++i)
    sealer.launch(data_.next(Operation::seal, size, sealer.rules()), timed_.stream());
  timed_.stream().wait();
}

void KernelTimer::check_opened(const BenchKernel& kernel) {
  if (!data_.all_opened()) throw LaneError("wrong tag on the device: " + kernel.name());
}

double KernelTimer::median_rate(const Runs& runs, std::size_t bytes,
                                const std::function<double()>& seconds) const {
  double spent = 0;
  for (std::size_t run = 0; run < runs.warm_ups && spent < runs.seconds; ++run) spent += seconds();
  spent = 0;
  std::vector<double> all;
  while (all.size() < runs.timed && (all.size() < runs.min_timed || spent < runs.seconds)) {
    report_.cancel().check();
    all.push_back(seconds());
    spent += all.back();
  }
  return static_cast<double>(bytes) / median(std::move(all)) / 1e9;
}

double KernelTimer::resident(const BenchKernel& kernel, std::size_t size, const Runs& runs) {
  const std::size_t launches = launches_of(size);
  return median_rate(runs, launches * size, [&] {
    return timed_.time([&] {
      for (std::size_t i = 0; i < launches; ++i)
        kernel.launch(data_.next(kernel.mode(), size, kernel.rules()), timed_.stream());
    });
  });
}

}  // namespace gpuaes::cuda
