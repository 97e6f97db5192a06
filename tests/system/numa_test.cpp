// Nodes of memory, in a made-up sysfs, and placing memory and threads on them.
#include "system/numa.hpp"

#include <linux/filter.h>
#include <linux/mempolicy.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/files.hpp"

namespace gpuaes {
namespace {

const std::string address = "0000:17:00.0";

// A host with two nodes, with memory on both. The device is on node 1.
class Sysfs {
 public:
  Sysfs() {
    set("devices/system/node/has_cpu", "0-1\n");
    set("devices/system/node/has_memory", "0-1\n");
    set("devices/system/node/node0/cpulist", "0-3,8-11\n");
    set("devices/system/node/node1/cpulist", "4-7,12-15\n");
    set_device_node("1\n");
  }

  void set(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void set_device_node(const std::string& text) const {
    set("bus/pci/devices/" + address + "/numa_node", text);
  }
  void remove(const std::string& name) const { std::filesystem::remove_all(directory_ / name); }

  std::optional<NumaNode> node() const { return node_of_pci_device(address, directory_.path().string()); }

 private:
  TempDir directory_;
};

// Pages of its own that no test has used.
class Pages {
 public:
  static constexpr std::size_t size = 64 << 10;

  Pages()
      : memory_(static_cast<std::byte*>(
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(memory_ != MAP_FAILED);
  }
  ~Pages() { munmap(memory_, size); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::span<std::byte> span() const { return {memory_, size}; }

  // Also shows that the memory can be used. -1 if the system does not say.
  int policy() const {
    std::ranges::fill(span(), std::byte{1});
    int mode = -1;
    syscall(SYS_get_mempolicy, &mode, nullptr, 0, memory_, MPOL_F_ADDR);
    return mode;
  }

 private:
  std::byte* memory_;
};

// Whether this system lets programs place memory, and shows the policy.
bool can_place_memory() {
  const Pages pages;
  std::array<unsigned long, 1> mask{1};
  return syscall(SYS_mbind, pages.span().data(), Pages::size, MPOL_PREFERRED, mask.data(), 2, 0) == 0 &&
         pages.policy() == MPOL_PREFERRED;
}

// Makes a system call of the calling thread fail from now on, as in a container. Returns false if that is not
// possible here.
bool forbid(long call, int error) {
  const auto number = static_cast<unsigned>(call);
  std::array<sock_filter, 4> filter{
      {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{filter.size(), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Runs `call` in a thread of its own, so that nothing remains forbidden or bound.
template <class Call>
void in_own_thread(Call call) {
  std::exception_ptr failure;
  std::thread([&] {
    try {
      call();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

TEST_CASE("the node of a device has the number and the CPUs that sysfs gives") {
  const Sysfs sysfs;
  REQUIRE(sysfs.node());
  CHECK(sysfs.node()->number == 1);
  CHECK(sysfs.node()->cpus == CpuList{4, 5, 6, 7, 12, 13, 14, 15});
  sysfs.set_device_node("0\n");
  REQUIRE(sysfs.node());
  CHECK(sysfs.node()->number == 0);
  CHECK(sysfs.node()->cpus == CpuList{0, 1, 2, 3, 8, 9, 10, 11});
}

TEST_CASE("a device has no node if its firmware does not say, or if sysfs is hidden or garbled") {
  for (const std::string text : {"-1\n", "", "\n", "one\n", "1x\n", "0-1\n", "4294967297\n", "1024\n"}) {
    CAPTURE(text);
    const Sysfs sysfs;
    sysfs.set_device_node(text);
    CHECK_FALSE(sysfs.node());
  }
  for (const char* const missing :
       {"bus", "devices/system/node", "devices/system/node/has_cpu", "devices/system/node/has_memory"}) {
    CAPTURE(missing);
    const Sysfs sysfs;
    sysfs.remove(missing);
    CHECK_FALSE(sysfs.node());
  }
}

TEST_CASE("nodes do not matter unless several have CPUs and memory") {
  for (const std::string list : {"has_cpu", "has_memory"}) {
    for (const std::string one : {"0\n", "1\n", "1,8\n", "", "\n", "garbage\n", "0-\n", "0-1-2\n", "1-0\n"}) {
      CAPTURE(list, one);
      const Sysfs sysfs;
      sysfs.set("devices/system/node/" + list, one);
      CHECK_FALSE(sysfs.node());
    }
    const Sysfs sysfs;
    sysfs.set("devices/system/node/" + list, "0-8\n");
    CHECK(sysfs.node());
  }
}

TEST_CASE("a device is not on a node without CPUs, which may be the memory of a GPU") {
  const Sysfs sysfs;
  sysfs.set("devices/system/node/has_memory", "0-1,8\n");
  CHECK(sysfs.node());
  sysfs.set_device_node("8\n");
  CHECK_FALSE(sysfs.node());
}

TEST_CASE("the CPUs of a node may be unknown") {
  for (const std::string cpus : {"\n", "", "x\n", "4,\n", "4--5\n"}) {
    CAPTURE(cpus);
    const Sysfs sysfs;
    sysfs.set("devices/system/node/node1/cpulist", cpus);
    REQUIRE(sysfs.node());
    CHECK(sysfs.node()->cpus.empty());
  }
  const Sysfs sysfs;
  sysfs.remove("devices/system/node/node1");  // offline
  REQUIRE(sysfs.node());
  CHECK(sysfs.node()->cpus.empty());
}

TEST_CASE("CPU lists are sorted, and CPUs beyond the supported number are left out") {
  const Sysfs sysfs;
  sysfs.set("devices/system/node/node1/cpulist", "9,2-3,1020-4294967295\n");
  REQUIRE(sysfs.node());
  CHECK(sysfs.node()->cpus == CpuList{2, 3, 9, 1020, 1021, 1022, 1023});
}

TEST_CASE("memory is preferred from one node, and taken from several in turn", "[optional]") {
  if (!can_place_memory()) return skip("this system does not place memory");
  const Pages none, one, same, several;
  place_memory(none.span(), {});
  CHECK(none.policy() == MPOL_DEFAULT);
  place_memory(one.span(), CpuList{0});
  CHECK(one.policy() == MPOL_PREFERRED);
  place_memory(same.span(), CpuList{0, 0});
  CHECK(same.policy() == MPOL_PREFERRED);
  // The kernel ignores nodes that do not exist, unless no other was named.
  place_memory(several.span(), CpuList{0, 1});
  CHECK(several.policy() == MPOL_INTERLEAVE);
}

TEST_CASE("memory is placed as usual if its node does not exist, or if placing it is forbidden",
          "[optional]") {
  if (!can_place_memory()) return skip("this system does not place memory");
  const Pages pages;
  place_memory(pages.span(), CpuList{1023});
  CHECK(pages.policy() == MPOL_DEFAULT);
  for (const int error : {EPERM, ENOSYS}) {
    CAPTURE(error);
    in_own_thread([&] {
      if (!forbid(SYS_mbind, error)) return skip("cannot forbid system calls");
      const Pages placed;
      place_memory(placed.span(), CpuList{0});
      CHECK(placed.policy() == MPOL_DEFAULT);
    });
  }
}

TEST_CASE("common CPUs are those in both lists") {
  CHECK(common(CpuList{1, 2, 5, 9}, CpuList{2, 3, 9}) == CpuList{2, 9});
  CHECK(common(CpuList{1, 2}, CpuList{3}).empty());
  CHECK(common(CpuList{}, CpuList{3}).empty());
}

TEST_CASE("a thread is bound to CPUs only while the binding exists") {
  const CpuList all = thread_cpus();
  REQUIRE_FALSE(all.empty());
  {
    const CpuBinding binding(CpuList{all.back()});
    CHECK(thread_cpus() == CpuList{all.back()});
  }
  CHECK(thread_cpus() == all);
  const CpuBinding none(CpuList{});
  CHECK(thread_cpus() == all);
}

TEST_CASE("a thread that may not be bound stays as it is", "[optional]") {
  for (const long call : {SYS_sched_setaffinity, SYS_sched_getaffinity}) {
    CAPTURE(call);
    const CpuList all = thread_cpus();
    in_own_thread([&] {
      if (!forbid(call, EPERM)) return skip("cannot forbid system calls");
      const CpuBinding binding(CpuList{all.back()});
      CHECK(thread_cpus() == (call == SYS_sched_getaffinity ? CpuList{} : all));
    });
  }
}

}  // namespace gpuaes
