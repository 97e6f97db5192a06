// Which lanes a run uses, and how large its ring is: what must hold whatever the figures in plan.cpp are.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "cli/option_values.hpp"
#include "lane/plan.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t GB = 1000000000;
constexpr std::size_t KiB = std::size_t{1} << 10, MiB = std::size_t{1} << 20, GiB = std::size_t{1} << 30;

constexpr Workload pipe{.authenticated = true};
constexpr Workload file{.parallel_bytes = unlimited, .authenticated = true};
constexpr Workload slow_pipe{.cipher = Cipher::kuznyechik, .authenticated = true};

// Rates are in bytes per second.
Machine machine(unsigned cpus, bool cuda = false, double lane = 4e9, double link = 64e9) {
  return {.cpus = cpus,
          .cuda = cuda,
          .free_memory = [] { return unlimited; },
          .known_devices = [] { return 8; },
          .cpu_lane_rate = [lane](const Workload&) { return lane; },
          .link_rate = [link] { return link; }};
}

Workload file_of(std::uint64_t bytes, bool from_disk = false) {
  return {.parallel_bytes = bytes, .from_disk = from_disk, .authenticated = true};
}

LanePlan plan(std::string_view lanes, const Workload& workload, const Machine& on) {
  return plan_lanes(parse_lanes(lanes), workload, on);
}

bool begins_with_cuda(const LanePlan& plan) {
  return std::ranges::any_of(plan.first, uses_device);
}

bool uses_cuda(const LanePlan& plan) {
  return begins_with_cuda(plan) || !plan.later.empty();
}

// Which lanes, when, and why.
std::string summary(const LanePlan& plan) {
  return to_string(plan.first) + ", joined by " + to_string(plan.joining) + ", then " +
         to_string(plan.later) + " after " + std::to_string(plan.later_from) + ", or " +
         to_string(plan.instead) + ": " + plan.reason;
}

// The lanes that start at once and those that join them.
std::vector<LaneSpec> all_lanes(const LanePlan& plan) {
  std::vector<LaneSpec> all = plan.first;
  all.insert(all.end(), plan.joining.begin(), plan.joining.end());
  return all;
}

// The number of lanes, or of streams of all devices.
unsigned count(const std::vector<LaneSpec>& specs) {
  unsigned sum = 0;
  for (const LaneSpec& spec : specs) sum += spec.count.value();
  return sum;
}

template <class T>
T one_of(const Jitter& random, std::initializer_list<T> values) {
  return values.begin()[random.random() % values.size()];
}

}  // namespace

TEST_CASE("every plan keeps to what was asked for, and to the limits of the machine and the input") {
  const std::uint64_t seed = std::random_device{}();
  const Jitter random(seed);
  for (int number = 0; number < 5000; ++number) {
    const std::uint64_t bytes =
        one_of<std::uint64_t>(random, {0, 0, unlimited, random.random() >> random.random() % 64});
    Workload workload = file_of(bytes, random.random() % 4 == 0);
    workload.cipher = one_of(random, {Cipher::aes_128, Cipher::kuznyechik, Cipher::chacha20_poly1305});
    if (random.random() % 4 == 0) workload.chunk_bytes = 1 + random.random() % (64 * MiB);
    Machine on = machine(1 + random.random() % 256, random.random() % 2 == 0, one_of(random, {1e8, 1e9, 9e9}),
                         one_of(random, {4e9, 64e9, 500e9}));
    on.cache_bytes = one_of(random, {0 * MiB, 8 * MiB, 300 * MiB});
    const std::uint64_t memory = one_of<std::uint64_t>(random, {unlimited, GiB, 200 * MiB});
    on.free_memory = [memory] { return memory; };
    const std::string_view asked =
        one_of<std::string_view>(random, {"auto", "auto:low-cpu", "cpu", "cpu:3", "cpu:200", "cuda:0",
                                          "cuda:0:7", "cpu:3+cpu:1+cuda:5:7", "cuda:0+cuda:1", "cuda"});
    const bool automatic = asked.starts_with("auto");
    const LanePlan made = plan(asked, workload, on);
    const bool device = uses_cuda(made);
    CAPTURE(seed, asked, bytes, workload.from_disk, on.cpus, on.cache_bytes, memory, summary(made),
            made.chunks, made.chunk_bytes);

    CHECK(summary(plan(asked, workload, on)) == summary(made));
    if (automatic) CHECK_FALSE(made.reason.empty());
    CHECK((made.reason.empty() || automatic || asked == "cuda:0+cuda:1"));
    if (asked.find(':') != asked.npos && !automatic && !uses_device(parse_lanes(asked).named[0]))
      CHECK(to_string(made.first) == asked);
    if (automatic) {
      CHECK((on.cuda || !device));
      CHECK((device || made.instead.empty()));
      for (const auto* lanes : {&made.first, &made.instead})
        if (!lanes->empty() && !uses_device(lanes->front()))
          CHECK(count(*lanes) <= (workload.from_disk ? std::max(on.cpus, 4u) : on.cpus));
    }
    CHECK((made.later.empty() || automatic));
    CHECK((made.later_from == 0 || (bytes == 0 && !made.later.empty())));

    CHECK(made.chunks >= 1);
    CHECK(made.jobs >= count(all_lanes(made)));
    if (bytes > 0) CHECK((made.chunks - 1) * made.chunk_bytes < bytes);
    CHECK(made.chunk_bytes == workload.chunk_bytes.value_or(made.chunk_bytes));
    const std::uint64_t ring = 2 * made.chunks * made.chunk_bytes;
    if (ring > 32 * MiB && made.chunks > 1) CHECK(ring <= memory / 2);
    if (!workload.chunk_bytes) {
      CHECK(made.chunk_bytes % (64 * KiB) == 0);  // whole segments of every format
      if (!device && made.chunk_bytes > 64 * KiB) CHECK(ring <= std::max(96 * MiB, on.cache_bytes));
    }
    if (made.huge_pages) CHECK((begins_with_cuda(made) || ring <= std::max(bytes, 2 * made.chunk_bytes)));
  }
}

TEST_CASE(
    "lanes without a number are one per CPU for a cached file, and two between pipes with a fast cipher") {
  std::size_t before = 0;
  for (const unsigned cpus : {1u, 2u, 3u, 8u, 32u, 33u, 64u, 128u}) {
    CAPTURE(cpus);
    const std::size_t cached = count(plan("cpu", file, machine(cpus)).first);
    CHECK((cpus <= 32 ? cached == cpus : cached < cpus));
    CHECK(cached >= before);
    before = cached;
    for (const std::string_view lanes : {"cpu", "auto"})
      CHECK(plan(lanes, pipe, machine(cpus)).first[0].count == std::min(cpus, 2u));
    CHECK(plan("cpu:1", file_of(unlimited, true), machine(cpus)).first[0].count == 1u);
    CHECK(plan("cpu", file_of(unlimited, true), machine(cpus)).first[0].count >=
          4u);  // some wait for the disk
  }
  const auto lanes = [](const Workload& workload) {
    return count(plan("cpu", workload, machine(1000)).first);
  };
  CHECK(lanes(slow_pipe) > lanes(pipe));
  Workload slow_disk = slow_pipe;
  slow_disk.parallel_bytes = unlimited;
  slow_disk.from_disk = true;
  CHECK(lanes(slow_disk) > lanes(file_of(unlimited, true)));
  CHECK(lanes(file_of(unlimited, true)) < 1000);
}

TEST_CASE("the expected speed of CPU lanes counts those that run, not all CPUs") {
  Workload workload = file;
  workload.cipher = Cipher::kuznyechik;
  const auto speed = [&](unsigned cpus) { return expected_speeds(cpus, 0.3e9, 64e9, workload).cpu; };
  CHECK(std::abs(speed(32) - 2 * speed(16)) < 1);
  CHECK(std::abs(speed(64) - cpu_lane_count(64, workload) * speed(1)) < 1);
  CHECK(speed(64) < 60 * speed(1));
}

TEST_CASE("for an output on a disk, there are only as many lanes as the fastest disk keeps busy") {
  Workload workload = file_of(100 * GB);
  workload.to_disk = true;
  const auto lanes = [&](unsigned cpus) { return count(plan("cpu", workload, machine(cpus)).first); };
  CHECK(lanes(1) == 1);
  CHECK(lanes(2) == 2);
  CHECK(lanes(64) == lanes(16));
  CHECK(lanes(64) < 16);
  CHECK_FALSE(uses_cuda(plan("auto", workload, machine(16, true))));
  workload.cipher = Cipher::kuznyechik;
  CHECK(lanes(64) > 32);
  CHECK(uses_cuda(plan("auto", workload, machine(4, true, 0.3e9))));
}

TEST_CASE("several devices share the CPUs, and their rings fit in the cache, with a few streams at least") {
  Machine on = machine(1000);
  for (const unsigned cpus : {4u, 18u, 32u, 1000u})
    for (const std::size_t cache : {0 * MiB, 300 * MiB, 5000 * MiB}) {
      std::size_t before = unlimited;
      for (const std::string_view devices :
           {"cuda:0+cuda:1", "cuda:0+cuda:1+cuda:2", "cuda:0+cuda:1+cuda:2+cuda:3"}) {
        on.cpus = cpus;
        on.cache_bytes = cache;
        const LanePlan made = plan(devices, file, on);
        const std::vector<LaneSpec> all = all_lanes(made);
        const unsigned streams = *all[0].count;
        CAPTURE(cpus, cache, devices, streams);
        CHECK(count(all) == streams * all.size());
        CHECK((streams == 4 || count(all) <= cpus));
        CHECK(streams <= before);
        if (streams > 4) CHECK(made.chunks * made.chunk_bytes <= std::max(96 * MiB, cache / 100 * 43));
        before = streams;
      }
    }
  const std::string alone = to_string(plan("cuda:0", file, machine(8)).first);
  CHECK(to_string(plan("cuda:0+cuda:0", file, machine(8)).first) == alone + "+" + alone);  // one device
  CHECK(to_string(all_lanes(plan("cpu:2+cuda:0+cuda:1:3", file, machine(64)))) == "cpu:2+cuda:0:11+cuda:1:3");
}

TEST_CASE("the first of several named devices begins, and the others join if the input is large enough") {
  const LanePlan large = plan("cuda:3:2+cpu:1+cuda:1:4+cuda:3:1", file, machine(64));
  CHECK(to_string(large.first) == "cuda:3:2+cpu:1+cuda:3:1");
  CHECK(to_string(large.joining) == "cuda:1:4");
  CHECK(large.reason == "");
  for (const Workload& workload : {pipe, file_of(GB), file_of(unlimited, true)}) {
    const LanePlan short_plan = plan("cuda:3:2+cpu:1+cuda:1:4", workload, machine(64));
    CHECK(to_string(short_plan.first) == "cuda:3:2+cpu:1");
    CHECK(short_plan.joining.empty());
    CHECK(short_plan.reason == "using more than 1 device is not likely to be faster");
    LaneChoice all = parse_lanes("cuda:3:2+cpu:1+cuda:1:4");
    all.all_devices = true;
    CHECK(to_string(plan_lanes(all, workload, machine(64)).joining) == "cuda:1:4");
  }
}

TEST_CASE("a named device that does not exist is an error, whether or not it would be used") {
  Machine on = machine(8, true);
  on.known_devices = [] { return 2; };
  for (const std::string_view lanes : {"cuda:2", "cuda:0+cuda:2", "cpu:1+cuda:1+cuda:2:4"})
    CHECK_THROWS_WITH(plan(lanes, pipe, on), "there is no CUDA device 2; this machine has 2");
  plan("cuda:0+cuda:1", pipe, on);
  LaneChoice shown = parse_lanes("cuda:5");
  shown.named[0].shown_as = 0;  // the others are hidden, and not counted
  plan_lanes(shown, pipe, on);
  on.known_devices = [] { return std::nullopt; };  // opening reports it
  plan("cuda:2", pipe, on);
}

TEST_CASE("cuda without a number uses more devices for larger files, as many as there are, or device 0") {
  const auto devices = [](const Workload& workload, std::optional<unsigned> known = 3, double link = 64e9) {
    Machine on = machine(64, true, 4e9, link);
    on.known_devices = [known] { return known; };
    const std::vector<LaneSpec> all = all_lanes(plan("cuda", workload, on));
    for (unsigned i = 0; i < all.size(); ++i) CHECK(all[i].device == i);
    return all.size();
  };
  std::size_t before = 1;
  for (std::uint64_t bytes = GB; bytes < 1000 * GB; bytes *= 2) {
    const std::size_t now = devices(file_of(bytes));
    CHECK(now >= before);
    CHECK(devices(file_of(bytes), 3, 16e9) >= now);  // a slow link
    before = now;
  }
  CHECK(before == 3);
  CHECK(devices(file, 0) == 1);  // opening it reports why
  CHECK(devices(file, {}) == 1);
  for (const Workload& workload : {pipe, file_of(GB), file_of(unlimited, true)})
    CHECK(devices(workload) == 1);
}

TEST_CASE("a small file gets no more chunks, and no more CUDA streams, than it fills") {
  const auto planned = [](std::string_view lanes, std::uint64_t bytes) {
    return plan(lanes, file_of(bytes), machine(16));
  };
  const std::uint64_t chunk = planned("cuda:0", unlimited).chunk_bytes;
  for (const unsigned count : {1u, 2u, 3u, 4u})
    for (const std::uint64_t bytes : {(count - 1) * chunk + 1, count * chunk}) {
      CAPTURE(bytes);
      CHECK(planned("cuda:0", bytes).first[0].count == count);
      CHECK(planned("cuda:0:5", bytes).first[0].count == 5u);
      CHECK(planned("cuda:0", bytes).chunks == count);
    }
  const std::uint64_t smallest = planned("cpu", 1).chunk_bytes;
  CHECK(planned("cpu", 7 * smallest).chunks == 7);
  CHECK(planned("cpu", 7 * smallest + 1).chunks == 8);
}

TEST_CASE("the larger a cached file, the larger its chunks on CPU lanes, whose ring is a small part of it") {
  std::size_t before = 1;
  for (std::uint64_t bytes = 1; bytes < 100 * GB; bytes = bytes * 3 / 2 + 1) {
    CAPTURE(bytes);
    const LanePlan made = plan("cpu", file_of(bytes), machine(16));
    CHECK(made.chunk_bytes >= before);
    if (made.chunk_bytes > plan("cpu", file_of(1), machine(16)).chunk_bytes)
      CHECK(2 * made.chunks * made.chunk_bytes <= bytes / 8);
    CHECK(plan("cpu", file_of(bytes, true), machine(16)).chunk_bytes == cpu_file_chunk_bytes);
    before = made.chunk_bytes;
  }
  CHECK(before == cpu_file_chunk_bytes);
}

TEST_CASE("the ring has huge pages if the input fills it, or if CUDA lanes pin it from the beginning") {
  CHECK(plan("cpu", file, machine(4)).huge_pages);
  const LanePlan short_file = plan("cpu", file_of(10 * MiB), machine(4));
  const std::uint64_t ring = 2 * short_file.chunks * short_file.chunk_bytes;
  CHECK(plan("cpu", file_of(ring), machine(4)).huge_pages);
  CHECK_FALSE(plan("cpu", file_of(ring - 1), machine(4)).huge_pages);
  CHECK_FALSE(plan("cpu", pipe, machine(4)).huge_pages);
  CHECK(plan("cpu+cuda:0", pipe, machine(4)).huge_pages);
  const LanePlan takes_over = plan("auto", slow_pipe, machine(1, true, 0.4e9));
  REQUIRE_FALSE(takes_over.later.empty());
  CHECK_FALSE(takes_over.huge_pages);
}

TEST_CASE("CUDA takes over from CPU lanes, which leave one CPU to open it for a file") {
  const auto made = [](unsigned cpus, Workload workload) {
    workload.cipher = Cipher::kuznyechik;
    return plan("auto", workload, machine(cpus, true, 0.4e9));
  };
  const Workload large = file_of(100 * GB);
  for (const unsigned cpus : {2u, 8u, 16u}) {
    const std::string number = std::to_string(cpus), one_less = std::to_string(cpus - 1);
    CHECK(to_string(made(cpus, large).first) == "cpu:" + one_less);
    CHECK(to_string(made(cpus, large).later).starts_with("cuda:0:"));
    CHECK(to_string(made(cpus, large).instead) == "cpu:" + number);
  }
  CHECK(begins_with_cuda(made(1, large)));
  CHECK(to_string(made(1, large).instead) == "cpu:1");
  const LanePlan piped = made(1, pipe);
  CHECK(to_string(piped.first) == "cpu:1");
  CHECK(to_string(piped.later).starts_with("cuda:0:"));
  CHECK(piped.later_from > 0);
  CHECK(contains(piped.reason, "CUDA is likely to be faster from"));
}

TEST_CASE("CUDA pays off sooner with fewer CPUs, slower lanes, a faster link and more input, or never") {
  for (const Workload& workload : {file, file_of(unlimited, true), slow_pipe})
    for (const unsigned cpus : {1u, 2u, 4u, 8u, 15u})
      for (const double lane : {0.1e9, 0.4e9, 1e9, 4e9, 9e9})
        for (const double link : {2e9, 16e9, 64e9}) {
          CAPTURE(workload.parallel_bytes, workload.from_disk, cpus, lane, link);
          const auto from = [&](unsigned with_cpus, double with_lane, double with_link) {
            const Speeds expected = expected_speeds(with_cpus, with_lane, with_link, workload);
            return bytes_until_cuda_pays(with_cpus, with_cpus - 1, expected).value_or(unlimited);
          };
          const std::uint64_t enough = from(cpus, lane, link);
          CHECK(enough > 0);
          CHECK(enough <= from(cpus, 2 * lane, link));
          CHECK(enough >= from(cpus, lane, 2 * link));
          if (workload.parallel_bytes > 0 && !workload.from_disk) {
            CHECK(enough <= from(cpus + 1, lane, link));
            const Machine on = machine(cpus, true, lane, link);
            const auto uses = [&](std::uint64_t bytes) {
              return uses_cuda(plan("auto", file_of(bytes), on));
            };
            CHECK(uses(unlimited) == (enough < unlimited));
            if (enough < unlimited) CHECK(uses(std::max<std::uint64_t>(enough, GiB)));
            CHECK_FALSE(uses(std::max<std::uint64_t>(enough, GiB) - 1));
          }
        }
  CHECK(uses_cuda(plan("auto", file_of(20 * GB), machine(8, true, 0.2e9, 4e9))));
  CHECK_FALSE(uses_cuda(plan("auto", file, machine(64, true, 8e9, 4e9))));
}

TEST_CASE("nothing is measured where CUDA cannot be faster") {
  const auto reason = [](std::string_view lanes, bool cuda, const Workload& workload) {
    Machine on = machine(1, cuda);
    on.cpu_lane_rate = [](const Workload&) -> double { throw LaneError("measured"); };
    on.link_rate = []() -> std::optional<double> { throw LaneError("looked for links"); };
    return plan(lanes, workload, on).reason;
  };
  CHECK(reason("auto", false, file) == "auto: there is no CUDA device");
  CHECK(reason("auto:low-cpu", false, file) == "auto:low-cpu: there is no CUDA device");
  CHECK(reason("auto", true, file_of(MiB)) == "auto: the file is too short to start CUDA");
  CHECK(reason("auto", true, pipe) ==
        "auto: CPU threads take turns reading the input, which keeps at most 2 of them busy");
  for (const Workload& workload : {pipe, file_of(MiB)})
    CHECK(reason("auto:low-cpu", true, workload) == "auto:low-cpu: CUDA would not save CPU time");
  for (const char* const lanes : {"auto", "auto:low-cpu"})
    CHECK_THROWS_WITH(reason(lanes, true, file), "measured");
}

TEST_CASE("a link whose speed is unknown counts as a fast one") {
  Machine on = machine(4, true, 0.4e9);
  const LanePlan known = plan("auto", file_of(20 * GB), on);
  on.link_rate = []() -> std::optional<double> { return std::nullopt; };
  const LanePlan unknown = plan("auto", file_of(20 * GB), on);
  CHECK(to_string(unknown.later) == to_string(known.later));
  CHECK(known.reason.starts_with("auto: with 4 CPUs, CUDA is likely to be faster from "));
  CHECK(known.reason.ends_with("; a CPU thread encrypts 0.4 GB/s, and the speed of the link is 64.0 GB/s"));
  CHECK(unknown.reason.ends_with("and the speed of the link is unknown"));
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

TEST_CASE("auto:low-cpu uses fewer CPUs, or CUDA for a file from the size at which that saves CPU time") {
  const double lane = 4e9;
  const std::uint64_t enough = bytes_until_cuda_saves(lane, file).value();
  for (const unsigned cpus : {1u, 2u, 3u, 16u, 64u}) {
    CAPTURE(cpus);
    const Machine on = machine(cpus, true, lane);
    const std::string half = "cpu:" + std::to_string((cpus + 1) / 2);
    const LanePlan none = plan("auto:low-cpu", file, machine(cpus)),
                   before = plan("auto:low-cpu", file_of(enough - 1), on),
                   from = plan("auto:low-cpu", file_of(enough), on);
    CHECK(to_string(none.first) == half);
    CHECK(to_string(before.first) == half);
    CHECK_FALSE(uses_cuda(before));
    CHECK(before.reason.starts_with("auto:low-cpu: CUDA saves CPU time only for files of at least "));
    CHECK(begins_with_cuda(from));
    CHECK(to_string(from.instead) == half);
    CHECK(from.reason.starts_with("auto:low-cpu: CUDA saves CPU time for files of at least "));
    // The ring is not sized for the lanes that would be used instead.
    CHECK(from.chunks == plan(to_string(from.first), file, on).chunks);
  }
}

TEST_CASE(
    "between pipes, auto:low-cpu uses CUDA only for ciphers that are slow on CPUs, after enough input") {
  CHECK(bytes_until_cuda_saves(0.2e9, slow_pipe) < bytes_until_cuda_saves(0.4e9, slow_pipe));
  CHECK_FALSE(bytes_until_cuda_saves(9e9, slow_pipe).has_value());
  for (const unsigned cpus : {1u, 2u, 16u}) {
    const LanePlan aes = plan("auto:low-cpu", pipe, machine(cpus, true));
    CHECK(to_string(aes.first) == "cpu:1");
    CHECK(aes.later.empty());
    const LanePlan slow = plan("auto:low-cpu", slow_pipe, machine(cpus, true, 0.4e9));
    CHECK(count(slow.first) <= std::max(cpus, 2u) - 1);
    CHECK(to_string(slow.later).starts_with("cuda:0:"));
    CHECK(slow.later_from == bytes_until_cuda_saves(0.4e9, slow_pipe));
    CHECK(slow.reason.starts_with("auto:low-cpu: CUDA takes over after "));
  }
}

TEST_CASE("there are enough chunks to keep all lanes busy") {
  for (const unsigned threads : {1, 2, 5, 40, 64}) {
    CAPTURE(threads);
    const std::string number = std::to_string(threads);
    CHECK(plan("cpu:" + number, pipe, machine(1)).chunks == threads);
    CHECK(plan("cpu:" + number, file, machine(1)).chunks > threads);
    const LanePlan streams = plan("cuda:0:" + number, file, machine(1));
    CHECK(streams.jobs == cuda_jobs_per_lane * threads);
    CHECK(streams.chunks > streams.jobs);
  }
}

TEST_CASE(
    "the number of chunks is limited by the available memory, and it is an error if not even one fits") {
  Workload workload = file;
  workload.chunk_bytes = GiB;
  Machine on = machine(4);
  const std::size_t wanted = plan("cpu", workload, on).chunks;
  CHECK(wanted > 4);
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
  CHECK(plan("cpu", file, on).chunks == wanted);
}

}  // namespace gpuaes
