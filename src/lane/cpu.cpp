// CPU lanes.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cipher/cpu_cipher.hpp"
#include "cipher/libgcrypt.hpp"
#include "lane/backends.hpp"
#include "lane/cpu_libraries.hpp"

namespace gpuaes {
namespace {

// Falls back to libcrypto if libgcrypt fails, whose memory has room for few keys.
std::unique_ptr<CpuCipher> make_cipher(const Job& job, CpuLibrary library) {
  if (library == CpuLibrary::libgcrypt) {
    try {
      if (std::unique_ptr<CpuCipher> cipher = make_libgcrypt_cipher(job)) return cipher;
    } catch (const LaneError&) {
    }
  }
  return make_cpu_cipher(job);
}

class CpuLane : public Lane {
 public:
  explicit CpuLane(CpuLibraries* libraries) : libraries_(libraries) {}

  std::string name() const override { return "cpu"; }

  void start(const Job& job) override {
    set_key(job, libraries_ == nullptr ? CpuLibrary::libcrypto : libraries_->choose(job));
    first_bad_ = cipher_->run(job);
  }

  std::optional<std::size_t> finish() override { return first_bad_; }

 private:
  // Within a run, the key changes only from one part of a file to the next.
  void set_key(const Job& job, CpuLibrary library) {
    if (key_ == job.key->id && operation_ == job.operation && library_ == library) return;
    key_ = 0;
    cipher_.reset();
    cipher_ = make_cipher(job, library);
    library_ = library;
    key_ = job.key->id;
    operation_ = job.operation;
  }

  CpuLibraries* const libraries_;
  std::unique_ptr<CpuCipher> cipher_;
  CpuLibrary library_ = CpuLibrary::libcrypto;
  std::uint64_t key_ = 0;  // its id; 0 for none
  Operation operation_ = Operation::ctr;
  std::optional<std::size_t> first_bad_;
};

}  // namespace

std::unique_ptr<Lane> make_cpu_lane() {
  return std::make_unique<CpuLane>(nullptr);
}

std::vector<std::unique_ptr<Lane>> open_cpu_lanes(std::span<const LaneSpec> specs, const LaneSetup& setup) {
  std::vector<std::unique_ptr<Lane>> lanes;
  for (const LaneSpec& spec : specs)
    for (unsigned i = 0; i < spec.count.value_or(1); ++i)
      lanes.push_back(std::make_unique<CpuLane>(setup.cpu_libraries));
  return lanes;
}

}  // namespace gpuaes
