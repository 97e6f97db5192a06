// The self-test of devices, run on CPU and reference lanes.
#include "known_answers.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lane/backends.hpp"
#include "support/catch.hpp"
#include "support/cpu_lanes.hpp"
#include "support/errors.hpp"

namespace gpuaes {
namespace {

// A CPU lane whose output of one operation has a wrong last byte.
class WrongLane : public Lane {
 public:
  explicit WrongLane(Operation wrong) : wrong_(wrong) {}

  std::string name() const override { return "wrong"; }
  void start(const Job& job) override {
    inner_->start(job);
    if (job.operation == wrong_) job.out.back() ^= std::byte{1};
  }
  std::optional<std::size_t> finish() override { return inner_->finish(); }

 private:
  std::unique_ptr<Lane> inner_ = make_cpu_lane();
  Operation wrong_;
};

// A CPU lane that accepts every tag.
class TrustingLane : public Lane {
 public:
  std::string name() const override { return "trusting"; }
  void start(const Job& job) override { inner_->start(job); }
  std::optional<std::size_t> finish() override {
    inner_->finish();
    return std::nullopt;
  }

 private:
  std::unique_ptr<Lane> inner_ = make_cpu_lane();
};

}  // namespace

TEST_CASE("lanes that compute correctly pass the device self-test") {
  for (const CipherInfo& each : ciphers) {
    CAPTURE(each.name);
    for (const NamedLane& lane : all_lanes())
      CHECK(failure_of([&] { cuda::test_known_answers(*lane.make(), each.cipher); }) == "");
  }
}

TEST_CASE("a lane that computes wrong results, or accepts a wrong tag, fails the device self-test") {
  for (const CipherInfo& each : ciphers) {
    const std::string cipher(each.name);
    for (const Operation operation : {Operation::ctr, Operation::seal, Operation::open}) {
      if (operation == Operation::ctr && !each.ctr) continue;
      WrongLane wrong(operation);
      CHECK(failure_of([&] { cuda::test_known_answers(wrong, each.cipher); }) ==
            "lane: wrong failed its self-test for " + cipher);
    }
    TrustingLane trusting;
    CHECK(failure_of([&] { cuda::test_known_answers(trusting, each.cipher); }) ==
          "lane: trusting failed its self-test for " + cipher);
  }
}

}  // namespace gpuaes
