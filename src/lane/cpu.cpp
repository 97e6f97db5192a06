// CPU lanes.

#include <memory>
#include <optional>
#include <string>

#include "cipher/cpu_cipher.hpp"
#include "lane/backends.hpp"

namespace gpuaes {
namespace {

class CpuLane : public Lane {
 public:
  std::string name() const override { return "cpu"; }

  void start(const Job& job) override {
    set_key(job);
    first_bad_ = cipher_->run(job);
  }

  std::optional<std::size_t> finish() override { return first_bad_; }

 private:
  // Within a run, the key changes only from one part of a file to the next.
  void set_key(const Job& job) {
    if (key_ == job.key->id && operation_ == job.operation) return;
    key_ = 0;
    cipher_.reset();
    cipher_ = make_cpu_cipher(job);
    key_ = job.key->id;
    operation_ = job.operation;
  }

  std::unique_ptr<CpuCipher> cipher_;
  std::uint64_t key_ = 0;  // its id; 0 for none
  Operation operation_ = Operation::ctr;
  std::optional<std::size_t> first_bad_;
};

}  // namespace

std::unique_ptr<Lane> make_cpu_lane() {
  return std::make_unique<CpuLane>();
}

}  // namespace gpuaes
