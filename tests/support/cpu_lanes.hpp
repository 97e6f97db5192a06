// The lanes that run on CPUs: those that use each library, and the reference.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cipher/libgcrypt.hpp"
#include "lane/backends.hpp"
#include "support/reference_lane.hpp"

namespace gpuaes {

// A lane that uses libgcrypt for all ciphers that it has.
class LibgcryptLane : public Lane {
 public:
  std::string name() const override { return "libgcrypt"; }

  void start(const Job& job) override {
    if (key_ != job.key->id || operation_ != job.operation) {
      cipher_ = make_libgcrypt_cipher(job);
      if (!cipher_) cipher_ = make_cpu_cipher(job);
      key_ = job.key->id;
      operation_ = job.operation;
    }
    first_bad_ = cipher_->run(job);
  }
  std::optional<std::size_t> finish() override { return first_bad_; }

 private:
  std::unique_ptr<CpuCipher> cipher_;
  std::uint64_t key_ = 0;
  Operation operation_ = Operation::ctr;
  std::optional<std::size_t> first_bad_;
};

struct NamedLane {
  std::string_view name;
  std::unique_ptr<Lane> (*make)();
};

// Lanes for each library; for libgcrypt only if it can be used.
inline std::vector<NamedLane> cpu_lanes() {
  std::vector<NamedLane> lanes{{"cpu", make_cpu_lane}};
  if (!libgcrypt_version().empty())
    lanes.push_back({"libgcrypt", [] { return std::unique_ptr<Lane>(std::make_unique<LibgcryptLane>()); }});
  return lanes;
}

inline std::vector<NamedLane> all_lanes() {
  std::vector<NamedLane> lanes = cpu_lanes();
  lanes.push_back({"reference", make_reference_lane});
  return lanes;
}

}  // namespace gpuaes
