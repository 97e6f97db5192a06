// Which lanes a run uses, and how large its ring is.
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "lane/plan.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

namespace gpuaes {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t GB = 1000000000;
constexpr std::size_t KiB = std::size_t{1} << 10;
constexpr std::size_t MiB = std::size_t{1} << 20;

constexpr Workload pipe{};
constexpr Workload file{.parallel_bytes = unlimited};

// As measured on an Intel Xeon (Sapphire Rapids) with an NVIDIA H100.
double recorded_lane_rate(const Workload& workload) {
  switch (info(workload.cipher).family) {
    case Family::aes:
      return workload.authenticated ? 8.7e9 : 5.9e9;
    case Family::kuznyechik:
      return workload.authenticated ? 0.43e9 : 0.9e9;
    case Family::chacha20:
      return 2.9e9;
  }
  refuse_cipher(workload.cipher);
}

Machine machine(unsigned cpus, bool cuda = false) {
  return {.cpus = cpus,
          .cuda = cuda,
          .free_memory = [] { return unlimited; },
          .show_devices = [](unsigned max_devices) { return max_devices; },
          .cpu_lane_rate = recorded_lane_rate,
          .link_rate = [] { return 64e9; }};
}

Workload file_of(std::uint64_t bytes, Cipher cipher = Cipher::aes_256, bool authenticated = true) {
  return {.parallel_bytes = bytes, .cipher = cipher, .authenticated = authenticated};
}

Workload pipe_of(Cipher cipher, bool authenticated) {
  return {.cipher = cipher, .authenticated = authenticated};
}

std::string lanes_of(const std::vector<LaneSpec>& specs) {
  std::string text;
  for (const LaneSpec& spec : specs) text.append(text.empty() ? "" : "+").append(to_string(spec));
  return text;
}

LanePlan plan(std::string_view lanes, const Workload& workload, const Machine& on) {
  return plan_lanes(parse_lanes(lanes), workload, on);
}

bool uses_cuda(const LanePlan& plan) {
  return uses_device(plan.first.front()) || !plan.later.empty();
}

}  // namespace

TEST_CASE("a run opens exactly the lanes that are named") {
  for (const Workload& workload : {pipe, file}) {
    const LanePlan made = plan("cpu:3+cpu:1+cpu:2+cuda:5:7", workload, machine(1, true));
    CHECK(lanes_of(made.first) == "cpu:3+cpu:1+cpu:2+cuda:5:7");
    CHECK(made.later.empty());
    CHECK(made.reason.empty());
    CHECK(made.chunks > 3 + 1 + 2 + 2 * 7);
  }
}

TEST_CASE("default counts depend on the machine and the input") {
  for (const unsigned cpus : {1u, 2u, 3u, 8u, 16u, 64u}) {
    CAPTURE(cpus);
    CHECK(plan("cpu", file, machine(cpus)).first[0].count == cpus);
    CHECK(plan("cpu", pipe, machine(cpus)).first[0].count == std::min(cpus, 2u));
    CHECK(plan("cuda:0", file, machine(cpus)).first[0].count == std::clamp(cpus, 4u, 8u));
    CHECK(plan("cuda:0", pipe, machine(cpus)).first[0].count == 2u);
  }
}

TEST_CASE("several devices share the CPUs, and each may get more streams than one device alone") {
  const auto streams = [](std::string_view given, const Workload& workload, unsigned cpus) {
    std::vector<unsigned> counts;
    for (const LaneSpec& spec : plan(given, workload, machine(cpus)).first) counts.push_back(*spec.count);
    return counts;
  };
  using Counts = std::vector<unsigned>;
  CHECK(streams("cuda:0+cuda:1", file, 4) == Counts{4, 4});
  CHECK(streams("cuda:0+cuda:1", file, 18) == Counts{9, 9});
  CHECK(streams("cuda:0+cuda:1+cuda:2+cuda:3", file, 32) == Counts{5, 5, 5, 5});
  CHECK(streams("cpu:2+cuda:0+cuda:1:3", file, 32) == Counts{2, 11, 3});
  CHECK(streams("cpu:2+cuda:0", file, 32) == Counts{2, 8});
  CHECK(streams("cuda:0+cuda:1", pipe, 32) == Counts{2, 2});
  CHECK(streams("cuda:0+cuda:0", file, 32) == Counts{8, 8});  // one device
}

TEST_CASE("cuda without a number uses as many devices as are fastest for a file, and one for other input") {
  const auto devices = [](const Workload& workload, unsigned cpus = 64, double link = 64e9) {
    Machine on = machine(cpus, true);
    on.show_devices = [](unsigned max_devices) { return std::min(max_devices, 4u); };
    on.link_rate = [link] { return link; };
    return lanes_of(plan("cuda", workload, on).first);
  };
  CHECK(devices(file_of(45 * GB)) == "cuda:0:8");
  CHECK(devices(file_of(46 * GB)) == "cuda:0:11+cuda:1:11");
  CHECK(devices(file_of(91 * GB)) == "cuda:0:11+cuda:1:11");
  CHECK(devices(file_of(92 * GB)) == "cuda:0:7+cuda:1:7+cuda:2:7");
  CHECK(devices(file_of(97 * GB), 16) == "cuda:0:5+cuda:1:5+cuda:2:5");
  CHECK(devices(file_of(23 * GB), 64, 32e9) == "cuda:0:11+cuda:1:11");  // slow links
  CHECK(devices(file) == "cuda:0:5+cuda:1:5+cuda:2:5+cuda:3:5");        // no more than there are
}

TEST_CASE("cuda is one device, without looking for others, if more would not help") {
  const auto lanes = [](std::string_view given, const Workload& workload, unsigned cpus = 64) {
    Machine on = machine(cpus, true);
    on.show_devices = [](unsigned) -> unsigned { throw LaneError("looked for devices"); };
    return lanes_of(plan(given, workload, on).first);
  };
  CHECK(lanes("cuda", pipe) == "cuda:0:2");
  CHECK(lanes("cuda", file_of(1)) == "cuda:0:1");
  CHECK(lanes("cuda", file_of(40 * GB)) == "cuda:0:8");
  CHECK(lanes("cuda", file, 8) == "cuda:0:8");  // that many CPUs keep only one busy
  Workload cold = file;
  cold.from_disk = true;
  CHECK(lanes("cuda", cold) == "cuda:0:4");
  CHECK(lanes("cpu:2+cuda", file) == "cpu:2+cuda:0:8");
  CHECK(lanes("cuda+cuda:2:3", file) == "cuda:0:11+cuda:2:3");
}

TEST_CASE("cuda without a number names device 0 if no device exists, so that opening it reports why") {
  Machine on = machine(64, true);
  on.show_devices = [](unsigned) { return 0u; };
  CHECK(lanes_of(plan("cuda", file, on).first) == "cuda:0:8");
}

TEST_CASE(
    "several devices get as many streams as keep the ring in the cache with chunks of 2 MiB, but 4 to 16 "
    "each") {
  Machine on = machine(1000);
  const auto made = [&](unsigned devices, std::size_t cache, Workload workload = file) {
    on.cache_bytes = cache;
    std::string lanes = "cuda:0";
    for (unsigned i = 1; i < devices; ++i) lanes += "+cuda:" + std::to_string(i);
    return plan(lanes, workload, on);
  };
  for (const unsigned devices : {2u, 3u, 4u, 8u})
    for (const std::size_t cache : {0 * MiB, 32 * MiB, 300 * MiB, 600 * MiB, 5000 * MiB}) {
      CAPTURE(devices, cache);
      const LanePlan got = made(devices, cache);
      const unsigned streams = *got.first[0].count;
      CHECK((streams >= 4 && streams <= 16));
      const std::size_t max_ring = std::max(96 * MiB, cache / 10 * 4);
      if (streams > 4) CHECK(got.chunks * got.chunk_bytes <= max_ring);
      if (streams < 16) CHECK((got.chunks + 2 * devices) * 2 * MiB > max_ring);
    }
  CHECK(*made(2, 300 * MiB).first[0].count == 14);
  const auto with_chunks_of = [&](std::size_t bytes) {
    Workload workload = file;
    workload.chunk_bytes = bytes;
    return *made(2, 300 * MiB, workload).first[0].count;
  };
  CHECK(with_chunks_of(1 * MiB) == 16);
  CHECK(with_chunks_of(4 * MiB) == 6);
  CHECK(with_chunks_of(8 * MiB) == 4);
  Workload cold = file;
  cold.from_disk = true;
  CHECK(*made(2, 300 * MiB, cold).first[0].count == 4);
}

TEST_CASE(
    "a file that is not cached gets at least four CPU lanes and no more than a disk keeps busy, unless their "
    "number is given") {
  const auto lanes = [](std::string_view given, unsigned cpus, Cipher cipher) {
    Workload workload = file_of(unlimited, cipher);
    workload.from_disk = true;
    return plan(given, workload, machine(cpus)).first[0].count;
  };
  for (const unsigned cpus : {1u, 2u, 4u, 6u, 16u, 64u}) {
    CAPTURE(cpus);
    for (const char* const chosen : {"cpu", "auto"}) {
      CHECK(lanes(chosen, cpus, Cipher::aes_256) == std::clamp(cpus, 4u, 7u));
      CHECK(lanes(chosen, cpus, Cipher::kuznyechik) == std::max(cpus, 4u));
    }
    CHECK(lanes("cpu:1", cpus, Cipher::aes_256) == 1u);
    CHECK(lanes("cpu:99", cpus, Cipher::aes_256) == 99u);
    CHECK(lanes("cuda:0", cpus, Cipher::aes_256) == 4u);
  }
}

TEST_CASE("a small file gets no more chunks, and no more CUDA streams, than it fills") {
  const auto planned = [](std::uint64_t bytes) { return plan("cuda:0", file_of(bytes), machine(16)); };
  const std::uint64_t chunk = planned(unlimited).chunk_bytes;
  for (const unsigned count : {1u, 2u, 3u, 7u})
    for (const std::uint64_t bytes : {(count - 1) * chunk + 1, count * chunk}) {
      CAPTURE(bytes);
      CHECK(planned(bytes).first[0].count == count);
      CHECK(planned(bytes).chunks == count);
      const std::uint64_t cpu_chunks = (bytes + 256 * KiB - 1) / (256 * KiB);
      CHECK(plan("cpu", file_of(bytes), machine(16)).chunks == std::min(cpu_chunks, std::uint64_t{33}));
    }
  CHECK(planned(8 * chunk).first[0].count == 8u);
  CHECK(planned(20 * chunk).chunks == 20u);
  CHECK(planned(21 * chunk).chunks == 20u);
  Workload small = file_of(10);
  small.chunk_bytes = 3;
  CHECK(plan("cuda:0", small, machine(16)).first[0].count == 4u);
  CHECK(plan("cuda:0:5", small, machine(16)).first[0].count == 5u);
}

TEST_CASE("CPU lanes get smaller chunks for a file that is not at least eight times as large as their ring") {
  const auto chunk = [](std::string_view lanes, Workload workload) {
    return plan(lanes, workload, machine(16)).chunk_bytes;
  };
  constexpr std::uint64_t enough = std::uint64_t{8} * 2 * 33 * MiB;  // 33 chunks for 16 lanes
  CHECK(chunk("cpu", file_of(enough)) == MiB);
  CHECK(chunk("cpu", file_of(enough - 1)) == 512 * KiB);
  CHECK(chunk("cpu", file_of(enough / 2)) == 512 * KiB);
  CHECK(chunk("cpu", file_of(enough / 2 - 1)) == 256 * KiB);
  CHECK(chunk("cpu", file_of(1)) == 256 * KiB);
  CHECK(plan("cpu", file_of(7 * 256 * KiB + 1), machine(16)).chunks == 8);
  Workload short_file = file_of(enough / 2);
  short_file.from_disk = true;
  CHECK(chunk("cpu", short_file) == MiB);
  CHECK(chunk("cuda:0", file_of(enough / 16)) == 4 * MiB);
  short_file.from_disk = false;
  short_file.chunk_bytes = 3 * MiB;
  CHECK(chunk("cpu", short_file) == 3 * MiB);
}

TEST_CASE("the ring has huge pages if the input fills it, or if CUDA lanes pin it from the beginning") {
  const LanePlan large = plan("cpu", file, machine(4));
  CHECK(large.huge_pages);
  const std::uint64_t ring = 2 * large.chunks * 256 * KiB;  // of a short file
  CHECK(plan("cpu", file_of(ring), machine(4)).huge_pages);
  CHECK_FALSE(plan("cpu", file_of(ring - 1), machine(4)).huge_pages);
  CHECK_FALSE(plan("cpu", pipe, machine(4)).huge_pages);

  CHECK(plan("cpu+cuda:0", pipe, machine(4)).huge_pages);
  const Workload takes_over = pipe_of(Cipher::kuznyechik, true);
  REQUIRE_FALSE(plan("auto", takes_over, machine(1, true)).later.empty());
  CHECK_FALSE(plan("auto", takes_over, machine(1, true)).huge_pages);
}

TEST_CASE("without -l a run uses CPU lanes if that is as fast, and the plan gives the reason") {
  for (const bool cuda : {false, true})
    for (const unsigned cpus : {1u, 2u, 16u, 64u}) {
      const LanePlan piped = plan("auto", pipe, machine(cpus, cuda));
      CHECK(lanes_of(piped.first) == "cpu:" + std::to_string(std::min(cpus, 2u)));
      CHECK(piped.later.empty());
      CHECK(piped.reason == "auto: lanes take turns reading the input, which keeps at most 2 CPU lanes busy");
      const LanePlan read = plan("auto", file_of(4 * GB), machine(cpus, cuda));
      CHECK(lanes_of(read.first) == "cpu:" + std::to_string(cpus));
      CHECK(read.later.empty());
      CHECK_FALSE(read.reason.empty());
    }
}

TEST_CASE("CUDA takes over large files if it is likely to be faster; one CPU is left to open it") {
  const auto made = [](unsigned cpus, const Workload& workload, bool cuda = true) {
    const LanePlan chosen = plan("auto", workload, machine(cpus, cuda));
    return fmt::format("{}, then {}, or {}", lanes_of(chosen.first), lanes_of(chosen.later),
                       lanes_of(chosen.instead));
  };
  const Workload large = file_of(20 * GB, Cipher::kuznyechik);
  CHECK(made(1, large) == "cuda:0:4, then , or cpu:1");
  CHECK(made(2, large) == "cpu:1, then cuda:0:4, or cpu:2");
  CHECK(made(8, large) == "cpu:7, then cuda:0:8, or cpu:8");
  CHECK(made(16, large) == "cpu:15, then cuda:0:8, or cpu:16");
  CHECK(made(16, large, false) == "cpu:16, then , or ");
  Workload on_disk = large;
  on_disk.from_disk = true;
  CHECK(made(2, on_disk) == "cpu:4, then cuda:0:4, or cpu:4");
  CHECK(made(16, on_disk) == "cpu:16, then , or ");  // the disk is slower
}

TEST_CASE("what a run with -l auto does follows from the rates that were measured") {
  struct Case {
    double lane, link;  // GB/s
    unsigned cpus;
    std::uint64_t bytes;
  };
  const auto cuda_for = [](const Case& observed) {
    Machine on = machine(observed.cpus, true);
    on.cpu_lane_rate = [&](const Workload&) { return observed.lane * 1e9; };
    on.link_rate = [&] { return observed.link * 1e9; };
    return uses_cuda(plan("auto", file_of(observed.bytes), on));
  };
  // Kuznyechik, sealed, on a laptop whose GPU has four lanes of PCIe 3.
  CHECK(cuda_for({.lane = 0.2, .link = 4, .cpus = 8, .bytes = 20 * GB}));
  // AES on the same laptop.
  CHECK_FALSE(cuda_for({.lane = 4, .link = 4, .cpus = 8, .bytes = 1000 * GB}));
  // age files on a host with PCIe 5, where cuda:0 is faster only up to about 8 CPUs.
  for (const unsigned cpus : {1u, 2u, 4u, 8u})
    CHECK(cuda_for({.lane = 2.9, .link = 64, .cpus = cpus, .bytes = 17 * GB}));
  CHECK_FALSE(cuda_for({.lane = 2.9, .link = 64, .cpus = 16, .bytes = 17 * GB}));
  // AES there: only with few CPUs, and only for large files.
  CHECK(cuda_for({.lane = 8.7, .link = 64, .cpus = 1, .bytes = 17 * GB}));
  CHECK_FALSE(cuda_for({.lane = 8.7, .link = 64, .cpus = 1, .bytes = 4 * GB}));
  CHECK_FALSE(cuda_for({.lane = 8.7, .link = 64, .cpus = 16, .bytes = 1000 * GB}));
}

TEST_CASE("nothing is measured where CUDA cannot be faster") {
  const auto reason = [](std::string_view lanes, bool cuda, const Workload& workload) {
    Machine on = machine(1, cuda);
    on.cpu_lane_rate = [](const Workload&) -> double { throw LaneError("measured"); };
    on.link_rate = []() -> std::optional<double> { throw LaneError("looked for links"); };
    return plan(lanes, workload, on).reason;
  };
  constexpr std::uint64_t GiB = std::uint64_t{1} << 30;
  const Workload short_file = file_of(GiB - 1, Cipher::kuznyechik),
                 long_file = file_of(GiB, Cipher::kuznyechik);
  CHECK(reason("auto", false, long_file) == "auto: there is no CUDA device");
  CHECK(reason("auto", true, short_file) == "auto: the file is too short to start CUDA");
  CHECK(reason("auto", true, pipe) ==
        "auto: lanes take turns reading the input, which keeps at most 2 CPU lanes busy");
  for (const Workload& workload : {pipe, short_file})
    CHECK(reason("auto:low-cpu", true, workload) == "auto:low-cpu: CUDA would not save CPU time");
  for (const char* const lanes : {"auto", "auto:low-cpu"})
    CHECK_THROWS_WITH(reason(lanes, true, long_file), "measured");
}

TEST_CASE("a link whose speed is unknown counts as a fast one") {
  Machine on = machine(4, true);
  const auto reason = [&] { return plan("auto", file_of(20 * GB, Cipher::kuznyechik), on).reason; };
  const std::string common =
      "auto: with 4 CPUs, CUDA is likely to be faster from 0.8 GB; a CPU lane encrypts 0.4 GB/s, ";
  CHECK(reason() == common + "and the speed of the link is 64.0 GB/s");
  on.link_rate = []() -> std::optional<double> { return std::nullopt; };
  CHECK(reason() == common + "and the speed of the link is unknown");
}

TEST_CASE("CUDA lanes that have taken over continue unless all CPU lanes would be faster") {
  const auto continues = [](double first, double later, unsigned first_lanes, unsigned all_lanes) {
    return later_lanes_continue(
        {.first = first, .later = later, .first_lanes = first_lanes, .all_lanes = all_lanes});
  };
  CHECK(continues(3e9, 40e9, 7, 8));
  CHECK(continues(7e9, 8e9, 7, 8));
  CHECK_FALSE(continues(7e9, 7.9e9, 7, 8));
  CHECK_FALSE(continues(5e9, 8e9, 1, 2));
}

TEST_CASE("a CUDA stream has two jobs in flight, and the ring four more chunks than jobs") {
  for (const unsigned streams : {1u, 3u, 8u, 64u}) {
    CAPTURE(streams);
    const LanePlan made = plan("cuda:0:" + std::to_string(streams), file, machine(12, true));
    CHECK(made.jobs == 2 * streams);
    CHECK(made.chunks == 2 * streams + 4);
  }
}

TEST_CASE(
    "the fewer CPUs there are, the slower their lanes and the faster the link, the sooner CUDA pays off") {
  const auto from = [](unsigned cpus, double lane, double link) {
    return bytes_until_cuda_pays(cpus, cpus - 1, expected_speeds(cpus, lane, link, file)).value_or(unlimited);
  };
  for (const unsigned cpus : {1u, 2u, 4u, 8u, 15u}) {
    CAPTURE(cpus);
    CHECK(from(cpus, 1e9, 64e9) < from(cpus + 1, 1e9, 64e9));
    CHECK(from(cpus, 0.4e9, 64e9) < from(cpus, 0.9e9, 64e9));
    CHECK(from(cpus, 0.4e9, 64e9) <= from(cpus, 0.4e9, 16e9));
  }
  CHECK(from(8, 0.4e9, 64e9) < from(8, 0.4e9, 16e9));
  CHECK(from(1, 1e9, 64e9) > GB / 3);
  CHECK(from(64, 1e9, 64e9) == unlimited);
}

TEST_CASE("auto:low-cpu uses half of the CPUs for a cached file, or CUDA if that saves CPU time") {
  const auto low = [](const Workload& workload, unsigned cpus, bool cuda = true) {
    return plan("auto:low-cpu", workload, machine(cpus, cuda));
  };
  const std::uint64_t enough = bytes_until_cuda_saves(8.7e9, file).value();
  CHECK(enough > 2 * GB);
  CHECK(enough < 5 * GB);
  for (const unsigned cpus : {1u, 2u, 3u, 16u, 64u}) {
    const std::string half = "cpu:" + std::to_string((cpus + 1) / 2);
    CHECK(lanes_of(low(file, cpus, false).first) == half);
    CHECK(low(file, cpus, false).reason == "auto:low-cpu: there is no CUDA device");

    const LanePlan before = low(file_of(enough - 1), cpus);
    CHECK(lanes_of(before.first) == half);
    CHECK(before.instead.empty());
    CHECK(before.reason == "auto:low-cpu: CUDA saves CPU time only for files of at least 2.6 GB");

    const LanePlan from = low(file_of(enough), cpus);
    CHECK(lanes_of(from.first) == "cuda:0:4");
    CHECK(lanes_of(from.instead) == half);
    CHECK(from.later.empty());
    CHECK(from.reason == "auto:low-cpu: CUDA saves CPU time for files of at least 2.6 GB");
  }
  // The ring is as large as for CUDA lanes alone, however many CPU lanes there would be instead.
  for (const unsigned cpus : {1u, 64u}) {
    CHECK(low(file_of(enough), cpus).chunks == plan("cuda:0:4", file, machine(cpus)).chunks);
    CHECK(low(file_of(enough), cpus).chunk_bytes == 4 * MiB);
  }
  Workload few_chunks = file_of(enough);
  few_chunks.chunk_bytes = enough / 2;
  CHECK(lanes_of(low(few_chunks, 16).first) == "cuda:0:2");

  const LanePlan short_file = low(file_of(GB, Cipher::kuznyechik), 2);
  CHECK(lanes_of(short_file.first) == "cpu:1");
  CHECK(lanes_of(low(file_of(2 * GB, Cipher::kuznyechik), 2).first) == "cuda:0:4");

  Workload from_disk = file_of(enough);
  from_disk.from_disk = true;
  CHECK(lanes_of(low(from_disk, 2).instead) == "cpu:4");
  CHECK(lanes_of(low(from_disk, 64).instead) == "cpu:7");
}

TEST_CASE("PERFORMANCE.md states from where auto:low-cpu uses CUDA, and how many lanes keep disks busy") {
  const auto saves_from = [](const Workload& workload) {  // in units of 0.1 GB
    return (bytes_until_cuda_saves(recorded_lane_rate(workload), workload).value() + GB / 20) / (GB / 10);
  };
  CHECK(saves_from(file_of(unlimited)) == 26);
  CHECK(saves_from(file_of(unlimited, Cipher::aes_256, false)) == 18);
  CHECK(saves_from(file_of(unlimited, Cipher::chacha20_poly1305)) < 10);
  CHECK(saves_from(pipe_of(Cipher::kuznyechik, true)) == 2);
  CHECK(saves_from(pipe_of(Cipher::kuznyechik, false)) == 6);

  const auto disk_lanes = [](Cipher cipher, bool authenticated) {
    Workload workload = file_of(unlimited, cipher, authenticated);
    workload.from_disk = true;
    return cpu_lane_count(1000, workload);
  };
  CHECK(disk_lanes(Cipher::aes_256, true) == 7);
  CHECK(disk_lanes(Cipher::aes_256, false) == 9);
  CHECK(disk_lanes(Cipher::chacha20_poly1305, true) == 16);
}

TEST_CASE(
    "between pipes, auto:low-cpu uses CUDA only for ciphers that are slow on CPUs, after enough input") {
  for (const bool authenticated : {false, true}) {
    const Workload aes = pipe_of(Cipher::aes_256, authenticated);
    for (const unsigned cpus : {1u, 2u, 16u}) {
      const LanePlan made = plan("auto:low-cpu", aes, machine(cpus, true));
      CHECK(lanes_of(made.first) == "cpu:1");
      CHECK(made.later.empty());
      CHECK(made.reason == "auto:low-cpu: CUDA would not save CPU time");
    }
    const Workload kuznyechik = pipe_of(Cipher::kuznyechik, authenticated);
    const LanePlan made = plan("auto:low-cpu", kuznyechik, machine(16, true));
    CHECK(lanes_of(made.first) == (authenticated ? "cpu:15" : "cpu:7"));
    CHECK(lanes_of(made.later) == "cuda:0:2");
    CHECK(made.later_from < GB);
    CHECK(made.reason.starts_with("auto:low-cpu: CUDA takes over after "));
    CHECK(made.reason.ends_with(" GB, where it begins to save CPU time"));
  }
}

TEST_CASE("between pipes, a slower cipher has enough lanes to keep up with the pipes, or one per CPU") {
  for (const bool authenticated : {false, true})
    for (const unsigned cpus : {1u, 2u, 8u, 16u, 64u}) {
      const Workload workload = pipe_of(Cipher::kuznyechik, authenticated);
      CAPTURE(authenticated, cpus);
      const unsigned wanted = authenticated ? 16 : 8;
      const LanePlan made = plan("auto", workload, machine(cpus));
      CHECK(lanes_of(made.first) == "cpu:" + std::to_string(std::min(cpus, wanted)));
      CHECK(made.chunks == std::min(cpus, wanted));
      CHECK(made.later.empty());
      CHECK(contains(made.reason, cpus >= wanted ? "CPU lanes busy" : "auto: there is no CUDA device"));
      CHECK(plan("cpu", workload, machine(cpus)).first[0].count == std::min(cpus, wanted));
    }
}

TEST_CASE("between pipes, CUDA pays off only for slow ciphers on few CPUs") {
  for (const unsigned cpus : {1u, 2u, 4u, 8u, 16u}) {
    CAPTURE(cpus);
    const auto pays = [&](double lane) {
      return bytes_until_cuda_pays(cpus, cpus, expected_speeds(cpus, lane, 64e9, pipe)).has_value();
    };
    CHECK_FALSE(pays(8.7e9));
    CHECK(pays(0.9e9) == (cpus < 4));
    CHECK(pays(0.43e9) == (cpus < 8));
  }
}

TEST_CASE("a requested chunk size is used") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{16}, std::size_t{100}, MiB, 8192 * MiB})
    for (const std::string_view lanes : {"auto", "cpu:1", "cpu:64", "cpu:2+cpu:2", "cuda:0"})
      for (Workload workload : {pipe, file}) {
        workload.chunk_bytes = size;
        CHECK(plan(lanes, workload, machine(4, true)).chunk_bytes == size);
      }
}

TEST_CASE("rings fit in the last-level cache or in 96 MiB, whichever is larger") {
  for (const std::size_t cache : {std::size_t{0}, 8 * MiB, 32 * MiB, 300 * MiB})
    for (unsigned threads = 1; threads <= 256; ++threads)
      for (const Workload& workload : {pipe, file}) {
        Machine on = machine(1);
        on.cache_bytes = cache;
        const LanePlan made = plan("cpu:" + std::to_string(threads), workload, on);
        CAPTURE(threads, cache);
        CHECK(made.chunks >= threads);
        CHECK(2 * made.chunks * made.chunk_bytes <= std::max(96 * MiB, cache));
        CHECK(made.chunk_bytes >= 65536);
        CHECK(made.chunk_bytes % 4096 == 0);
      }
}

TEST_CASE("with several devices, chunks shrink to fit in the cache, down to 2 MiB") {
  Machine on = machine(16);
  on.cache_bytes = 300 * MiB;
  CHECK(plan("cuda:0", file, on).chunk_bytes == 4 * MiB);
  CHECK(plan("cuda:0+cuda:1", file, on).chunk_bytes == 2 * MiB);
  CHECK(plan("cuda:0:4+cuda:1:4", file, on).chunk_bytes == 4 * MiB);
  CHECK(plan("cuda:0+cuda:1+cuda:2+cuda:3", file, on).chunk_bytes == 2 * MiB);
  on.cache_bytes = 16 * MiB;
  CHECK(plan("cuda:0:64+cuda:1:64", file, on).chunk_bytes == 2 * MiB);
}

TEST_CASE("between pipes each CPU lane has one chunk; with a file there are more chunks than lanes") {
  for (const unsigned threads : {1, 2, 5, 40}) {
    CAPTURE(threads);
    CHECK(plan("cpu:" + std::to_string(threads), pipe, machine(1)).chunks == threads);
    CHECK(plan("cpu:" + std::to_string(threads), file, machine(1)).chunks > threads);
  }
}

TEST_CASE(
    "the number of chunks is limited by the available memory, and it is an error if not even one fits") {
  Workload workload = file;
  workload.chunk_bytes = 1024 * MiB;
  Machine on = machine(4);
  CHECK(plan("cpu", workload, on).chunks == 9);
  on.free_memory = [] { return std::uint64_t{12} << 30; };
  CHECK(plan("cpu", workload, on).chunks == 3);  // half of the memory, for input and output
  on.free_memory = [] { return std::uint64_t{2} << 30; };
  CHECK(plan("cpu", workload, on).chunks == 1);
  on.free_memory = [] { return (std::uint64_t{2} << 30) - 1; };
  const auto error = error_of<IoError>([&] { plan("cpu", workload, on); });
  REQUIRE(error.has_value());
  CHECK(error->what() ==
        std::string("a chunk of 1024 MiB requires twice as much memory, but only 2047 MiB is available"));
  CHECK(error->hint().advice == Advice::use_smaller_chunks);

  on.free_memory = [] { return std::uint64_t{0}; };  // not checked for small rings
  CHECK(plan("cpu", file, on).chunks == 9);
}

TEST_CASE("between pipes, CUDA takes over once that is likely to pay off, and the reason says when") {
  for (const bool authenticated : {false, true})
    for (const unsigned cpus : {1u, 2u, 4u, 8u, 16u, 64u}) {
      const Workload piped = pipe_of(Cipher::kuznyechik, authenticated);
      CAPTURE(authenticated, cpus);
      const LanePlan made = plan("auto", piped, machine(cpus, true));
      CHECK(lanes_of(made.first) == "cpu:" + std::to_string(std::min(cpus, authenticated ? 16u : 8u)));
      const bool takes_over = cpus < (authenticated ? 8 : 4);
      CHECK(lanes_of(made.later) == (takes_over ? "cuda:0:2" : ""));
      CHECK((made.later_from > GB / 10) == takes_over);
      CHECK(contains(made.reason, "CUDA is likely to be faster from") == takes_over);
      CHECK(made.chunks > made.jobs - 4);
    }
}

TEST_CASE("the lanes of this machine can be measured with every cipher, in each of its modes") {
  for (const CipherInfo& row : ciphers) {
    CAPTURE(row.name);
    const auto measure = [&](bool authenticated) {
      const Workload workload = pipe_of(row.cipher, authenticated);
      return this_machine(workload).cpu_lane_rate(workload);
    };
    CHECK(measure(true) > 0);
    if (row.ctr)
      CHECK(measure(false) > 0);
    else
      CHECK_THROWS_AS(measure(false), LaneError);
  }
}

}  // namespace gpuaes
