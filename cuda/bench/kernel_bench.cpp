#include "kernel_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "check_bench.hpp"
#include "error.hpp"
#include "launch_bench.hpp"
#include "limits.hpp"

namespace gpuaes::cuda {
namespace {

constexpr std::size_t streams = 4;
constexpr Runs timed{2, 9};
constexpr Runs tried{1, 3};  // to find the best of several shapes

// Memory of the host, pinned as that of the filter is, from which data go to the device, and to which they
// come back.
class HostData {
 public:
  explicit HostData(std::size_t size) : in_(size), out_(size), pinned_in_(in_), pinned_out_(out_) {}

  // Has what the pieces of a mode are made of.
  void fill(const Ends& all) { check(cudaMemcpy(in_.data(), all.in, all.in_bytes, cudaMemcpyDeviceToHost)); }
  // Where the same is that is in device memory.
  const std::byte* in(const Ends& all, const Ends& piece) const { return in_.data() + (piece.in - all.in); }
  std::byte* out(const Ends& all, const Ends& piece) { return out_.data() + (piece.out - all.out); }

 private:
  std::vector<std::byte> in_, out_;
  PinnedRegion pinned_in_, pinned_out_;
};

// Of those sizes that the device has room for, the largest; the others are skipped, and gone then.
std::unique_ptr<BenchData> make_data(std::vector<std::size_t>& sizes, const Report& report) {
  while (!sizes.empty()) {
    const auto largest = std::ranges::max_element(sizes);
    try {
      return std::make_unique<BenchData>(*largest);
    } catch (const LaneError& error) {
      if (cudaGetLastError() != cudaErrorMemoryAllocation) throw;
      report.skip(fmt::format("{} bytes: {}", *largest, error.what()));
      sizes.erase(largest);
    }
  }
  return nullptr;
}

class KernelBench {
 public:
  KernelBench(const KernelRequest& request, BenchData& data, Report& report)
      : request_(request),
        data_(data),
        report_(report),
        reference_(data),
        limits_(data.limits()),
        subjects_(choose_subjects(request)) {
    const auto copies = std::ranges::count(request.copies, true);
    if (copies > 0) host_ = std::make_unique<HostData>(sealed_size(data.capacity()));
    std::size_t modes = 0;
    for (const Subject& subject : subjects_)
      modes += static_cast<std::size_t>(
          std::ranges::count_if(request.modes, [&](KernelMode mode) { return subject.can(mode); }));
    report.expect(modes * request.ciphers.size() * request.sizes.size() * request.copies.size());
    for (const Cipher cipher : request.ciphers) keys_.emplace(cipher, random_key(cipher));
  }

  void run() {
    for (const Subject& subject : subjects_)
      for (const Cipher cipher : request_.ciphers)
        for (const KernelMode mode : request_.modes)
          if (subject.can(mode)) run(subject, keys_.at(cipher), mode);
  }

 private:
  void run(const Subject& subject, const BenchKey& key, KernelMode mode) {
    const std::vector<std::unique_ptr<BenchKernel>> kernels = make_kernels(subject, key, mode);
    if (kernels.empty()) return;
    const KernelLimit limit = least_limit(limits_, subject.cost(mode, key.expanded.rounds));
    for (const std::size_t size : request_.sizes) {
      if (mode == KernelMode::gcm_open) seal_all(subject, key, size);
      for (const bool copies : request_.copies) {
        if (copies)
          report_with_copies(subject, key, fastest(kernels, size), size);
        else
          report_resident(subject, key, fastest(kernels, size), size, limit);
      }
      if (mode == KernelMode::gcm_open && !data_.all_opened())
        throw LaneError(fmt::format("not exact on the device: {}, {}, gcm-open, {} bytes", subject.name,
                                    info(key.key.cipher).name, size));
    }
  }

  // All shapes that the subject has, each of them right. None where the device cannot have it.
  std::vector<std::unique_ptr<BenchKernel>> make_kernels(const Subject& subject, const BenchKey& key,
                                                         KernelMode mode) {
    std::vector<std::unique_ptr<BenchKernel>> kernels;
    for (const unsigned blocks : subject.blocks_per_thread()) {
      report_.cancel().check();
      try {
        kernels.push_back(std::make_unique<BenchKernel>(subject, mode, key, blocks));
      } catch (const Error& error) {
        if (subject.lane_kernel) throw;
        report_.skip(fmt::format("{}, {} blocks a thread: {}", subject.name, blocks, error.what()));
        continue;
      }
      reference_.check(subject, *kernels.back(), key, Reference::size_for(mode), streams_[0]);
      if (subject.lane_kernel) reference_.check(subject, *kernels.back(), key, data_.capacity(), streams_[0]);
    }
    return kernels;
  }

  // So that what is opened was sealed, as pieces of that size.
  void seal_all(const Subject& subject, const BenchKey& key, std::size_t size) {
    const BenchKernel sealer(subject, KernelMode::gcm_seal, key, 0);
    data_.begin_round();
    for (std::size_t i = 0; i < data_.pieces(KernelMode::gcm_seal, size); ++i)
      sealer.launch(data_.next(KernelMode::gcm_seal, size), streams_[0]);
    streams_[0].wait();
  }

  double seconds(const BenchKernel& kernel, std::size_t size, const Runs& runs) {
    return median(runs, [&] {
      report_.cancel().check();
      return streams_.time(1, [&] {
        for (std::size_t i = 0; i < launches_of(size); ++i)
          kernel.launch(data_.next(kernel.mode(), size), streams_[0]);
      });
    });
  }

  // The one with the best number of blocks a thread for launches of that size.
  const BenchKernel& fastest(const std::vector<std::unique_ptr<BenchKernel>>& kernels, std::size_t size) {
    if (kernels.size() == 1) return *kernels[0];
    std::vector<double> times;
    for (const auto& kernel : kernels) times.push_back(seconds(*kernel, size, tried));
    return *kernels[static_cast<std::size_t>(std::ranges::min_element(times) - times.begin())];
  }

  void report_resident(const Subject& subject, const BenchKey& key, const BenchKernel& kernel,
                       std::size_t size, const KernelLimit& limit) {
    const std::size_t launches = launches_of(size);
    const double rate = static_cast<double>(launches * size) / seconds(kernel, size, timed) / 1e9;
    report_.add({subject.name, 8 * info(key.key.cipher).key_bytes, info(kernel.mode()).name, size, launches,
                 "no", blocks_cell(kernel), rate, limit.name, limit.gb_per_s, rate / limit.gb_per_s,
                 kernel.registers(), kernel.local_bytes(), kernel.resident_warps()});
  }

  // The limit is what the link does with the same copies and no kernel between them.
  void report_with_copies(const Subject& subject, const BenchKey& key, const BenchKernel& kernel,
                          std::size_t size) {
    const std::size_t used = std::min(streams, data_.pieces(kernel.mode(), size));
    const std::size_t launches = std::max(launches_of(size), 2 * used);
    const double bytes = static_cast<double>(launches * size);
    const double rate = bytes / seconds_with_copies(&kernel, kernel.mode(), size, used, launches) / 1e9;
    double& link = link_rates_[{size, kernel.mode()}];
    if (link == 0) link = bytes / seconds_with_copies(nullptr, kernel.mode(), size, used, launches) / 1e9;
    report_.add({subject.name,
                 8 * info(key.key.cipher).key_bytes,
                 info(kernel.mode()).name,
                 size,
                 launches,
                 "yes",
                 blocks_cell(kernel),
                 rate,
                 "link",
                 link,
                 rate / link,
                 {},
                 {},
                 {}});
  }

  // Each stream takes what is next to the device, has it worked on, and takes it back, as lanes do. Pieces
  // that are under way at the same time are apart.
  double seconds_with_copies(const BenchKernel* kernel, KernelMode mode, std::size_t size, std::size_t used,
                             std::size_t launches) {
    const Ends all = ends_of(mode, data_.piece(mode, 0, data_.capacity()));
    host_->fill(all);
    return median(timed, [&] {
      report_.cancel().check();
      data_.begin_round();
      return streams_.time(used, [&] {
        for (std::size_t i = 0; i < launches; ++i) {
          const Stream& stream = streams_[i % used];
          const BenchData::Piece piece = data_.next(mode, size);
          const Ends ends = ends_of(mode, piece);
          check(cudaMemcpyAsync(ends.in, host_->in(all, ends), ends.in_bytes, cudaMemcpyHostToDevice,
                                stream.get()));
          if (kernel != nullptr) kernel->launch(piece, stream);
          check(cudaMemcpyAsync(host_->out(all, ends), ends.out, ends.out_bytes, cudaMemcpyDeviceToHost,
                                stream.get()));
        }
      });
    });
  }

  static Cell blocks_cell(const BenchKernel& kernel) {
    return kernel.blocks_per_thread() == 0 ? Cell() : Cell(kernel.blocks_per_thread());
  }

  const KernelRequest& request_;
  BenchData& data_;
  Report& report_;
  Reference reference_;
  const DeviceLimits limits_;
  const std::vector<Subject> subjects_;
  std::map<Cipher, BenchKey> keys_;
  Streams streams_{streams};
  std::unique_ptr<HostData> host_;
  std::map<std::pair<std::size_t, KernelMode>, double> link_rates_;
};

}  // namespace

void check_kernel_request(const KernelRequest& request) {
  choose_subjects(request);
}

std::vector<Column> kernel_columns() {
  return {{"variant", 30},
          {"key_bits"},
          {"mode", 11},
          {"bytes", 10},
          {"launches"},
          {"copies"},
          {"blocks_per_thread"},
          {"gb_per_s"},
          {"limit", 14},
          {"limit_gb_per_s"},
          {"share_of_limit", 0, 3},
          {"registers"},
          {"local_bytes"},
          {"resident_warps"}};
}

void run_kernel_bench(const KernelRequest& request, Report& report) {
  KernelRequest possible = request;
  const std::unique_ptr<BenchData> data = make_data(possible.sizes, report);
  if (data == nullptr) return;
  KernelBench(possible, *data, report).run();
}

}  // namespace gpuaes::cuda
