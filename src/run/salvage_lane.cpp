#include "run/salvage_lane.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "cipher/modes/segments.hpp"
#include "keys/secret.hpp"

namespace gpuaes {
namespace {

// The part of a decryption job with `count` segments from segment `first`.
Job part_of(const Job& job, std::size_t first, std::size_t count) {
  Job part = job;
  const std::size_t full = job.rules.plain_bytes, sealed_full = job.rules.sealed_bytes();
  const std::size_t at = first * full, sealed_at = first * sealed_full;
  part.in = job.in.subspan(sealed_at, std::min(count * sealed_full, job.in.size() - sealed_at));
  part.out = job.out.subspan(at, std::min(count * full, job.out.size() - at));
  part.first_segment += first;
  return part;
}

// A job's output must not overwrite its input: the input is needed again for the segments after a bad one.
class SalvageLane : public Lane {
 public:
  SalvageLane(std::unique_ptr<Lane> inner, Damage& damage) : inner_(std::move(inner)), damage_(damage) {}

  std::string name() const override { return inner_->name(); }
  std::span<const unsigned> cpus() const override { return inner_->cpus(); }

  // Opens the whole job first, which is enough if nothing is damaged. After a bad segment, opens one segment,
  // then twice as many after each success: a device opens all segments of a job even if the first is bad, and
  // retrying all the rest each time would take quadratic time.
  void start(const Job& job) override {
    const std::size_t count = count_segments(job);
    std::vector<Damage::Gap> lost;
    for (std::size_t at = 0, some = count; at < count;) {
      some = std::min(some, count - at);
      inner_->start(part_of(job, at, some));
      const std::optional<std::size_t> bad = inner_->finish();
      if (bad.value_or(some) > 0) damage_.add_verified();
      at += bad.value_or(some);
      some = bad ? 1 : 2 * some;
      if (!bad) continue;
      if (is_last(job, at)) {
        damage_.add_verified();
        damage_.set_end(end_of(job, at));
        break;  // what follows is not part of the stream
      }
      lost.push_back(lose(job, at++));
    }
    for (const Damage::Gap& gap : lost) damage_.add(gap);
  }

  std::optional<std::size_t> finish() override { return std::nullopt; }

 private:
  // Whether a segment that does not verify is the last one and full.
  bool is_last(const Job& job, std::size_t index) {
    Job last = part_of(job, index, 1);
    if (!job.rules.last_may_be_full() || last.in.size() < job.rules.sealed_bytes()) return false;
    last.ends_message = true;
    inner_->start(last);
    return !inner_->finish();
  }

  static Damage::End end_of(const Job& job, std::size_t index) {
    return {job.plaintext_offset + (index + 1) * job.rules.plain_bytes,
            job.input_offset + (index + 1) * job.rules.sealed_bytes()};
  }

  static Damage::Gap lose(const Job& job, std::size_t index) {
    const std::span<std::byte> plain = segment_to_open(job, index).plain;
    wipe(plain);
    const std::uint64_t begin = job.plaintext_offset + index * job.rules.plain_bytes;
    return {begin, begin + plain.size(), job.input_offset + index * job.rules.sealed_bytes(),
            plain.size() < job.rules.plain_bytes};
  }

  std::unique_ptr<Lane> inner_;
  Damage& damage_;
};

}  // namespace

void Damage::set_end(End end) {
  const std::lock_guard lock(mutex_);
  if (!end_ || end.input < end_->input) end_ = end;
}

std::optional<Damage::End> Damage::end() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

void Damage::add(Gap gap) {
  const std::lock_guard lock(mutex_);
  auto next = gaps_.upper_bound(gap.begin);
  if (next != gaps_.begin() && std::prev(next)->second.end >= gap.begin) --next;
  while (next != gaps_.end() && next->first <= gap.end) {
    const Gap& other = next->second;
    gap = {std::min(gap.begin, other.begin), std::max(gap.end, other.end),
           std::min(gap.input_offset, other.input_offset), gap.at_end || other.at_end};
    next = gaps_.erase(next);
  }
  gaps_.emplace_hint(next, gap.begin, gap);
}

std::vector<Damage::Gap> Damage::take_before(std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  std::vector<Gap> taken;
  while (!gaps_.empty() && gaps_.begin()->second.end < end) {
    taken.push_back(gaps_.begin()->second);
    gaps_.erase(gaps_.begin());
  }
  return taken;
}

std::vector<Damage::Gap> Damage::take_all() {
  return take_before(std::numeric_limits<std::uint64_t>::max());
}

std::unique_ptr<Lane> make_salvage_lane(std::unique_ptr<Lane> inner, Damage& damage) {
  return std::make_unique<SalvageLane>(std::move(inner), damage);
}

}  // namespace gpuaes
