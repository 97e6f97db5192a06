// The CPUs and the memory that this process may use.
#include "system/resources.hpp"

#include <sched.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "support/catch.hpp"
#include "support/files.hpp"

namespace gpuaes {

TEST_CASE("this process may use at least one CPU, and no more than it is bound to") {
  cpu_set_t set;
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  CHECK(usable_cpus() >= 1);
  CHECK(usable_cpus() <= bound_cpus());
  CHECK(bound_cpus() == static_cast<unsigned>(CPU_COUNT(&set)));

  // A process bound to one CPU may use only that one.
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &set)) CPU_SET(cpu, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(usable_cpus() == 1);
  CHECK(bound_cpus() == 1);
  REQUIRE(sched_setaffinity(0, sizeof set, &set) == 0);
}

TEST_CASE("CPU seconds grow while a thread works, not while it sleeps") {
  const double begin = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const double after_sleep = cpu_seconds();
  CHECK(after_sleep - begin < 0.1);
  std::thread([&] {
    while (cpu_seconds() < after_sleep + 0.1) {
    }
  }).join();
  CHECK(cpu_seconds() >= after_sleep + 0.1);
}

TEST_CASE("the last-level cache in sysfs is that of level 3 or, without one, of level 2") {
  const TempDir sysfs;
  const auto size = [&] { return cache_bytes_in(sysfs.path().string()); };
  const auto set = [&](int index, const char* text) {
    const std::string folder = sysfs / ("devices/system/cpu/cpu0/cache/index" + std::to_string(index));
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/size") << text;
  };
  CHECK(size() == 0);
  set(0, "64K\n");
  CHECK(size() == 0);
  set(2, "1024K\n");
  CHECK(size() == 1 << 20);
  set(3, "32768K\n");
  CHECK(size() == 32 << 20);
  for (const char* const garbage : {"K\n", "-1K\n", "xK\n"}) {
    set(3, garbage);
    CHECK(size() == 1 << 20);
  }
}

}  // namespace gpuaes
