#include "system/numa.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>

#include "base/text.hpp"

namespace gpuaes {
namespace {

// Higher numbers are ignored.
constexpr unsigned max_cpus = CPU_SETSIZE;
constexpr unsigned max_nodes = 1024;

// The first line of a file, without leading white space; empty if it cannot be read.
std::string first_line(const std::string& name) {
  std::string line;
  std::getline(std::ifstream(name) >> std::ws, line);
  return line;
}

// A list of numbers below `limit`, in sysfs's form: "0-3,8,10-11". Empty if it does not have that form.
std::vector<unsigned> parse_list(std::string_view text, unsigned limit) {
  std::vector<unsigned> numbers;
  for (const std::string_view range : split(trim(text), ',')) {
    const std::vector<std::string_view> ends = split(range, '-');
    const std::optional<unsigned> first = parse_number<unsigned>(ends.front()),
                                  last = parse_number<unsigned>(ends.back());
    if (!first || !last || ends.size() > 2) return {};
    for (unsigned number = *first; number <= *last && number < limit; ++number) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

// Bytes per second, in each direction: half of the total in "NVIDIA Grace Hopper Superchip Architecture".
constexpr double nvlink_c2c = 450e9;

bool has_gpu_with_node(const std::string& gpus) {
  constexpr std::string_view label = "Node:";
  std::error_code error;
  for (std::filesystem::directory_iterator at(gpus, error), end; !error && at != end; at.increment(error)) {
    const std::string line = first_line(at->path().string() + "/numa_status");
    if (line.starts_with(label) && parse_number<unsigned>(trim(std::string_view(line).substr(label.size()))))
      return true;
  }
  return false;
}

void bind_thread(std::span<const unsigned> cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned cpu : cpus) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace

std::optional<NumaNode> node_of_pci_device(std::string_view address, const std::string& sysfs) {
  const std::string nodes = sysfs + "/devices/system/node";
  const auto numbers = [&](const char* name) { return parse_list(first_line(nodes + name), max_nodes); };
  const std::vector<unsigned> usable = common(numbers("/has_cpu"), numbers("/has_memory"));
  // -1 if the firmware does not say.
  const std::optional<unsigned> number =
      parse_number<unsigned>(first_line(fmt::format("{}/bus/pci/devices/{}/numa_node", sysfs, address)));
  if (!number || usable.size() < 2 || !std::ranges::binary_search(usable, *number)) return std::nullopt;
  return NumaNode{*number,
                  parse_list(first_line(fmt::format("{}/node{}/cpulist", nodes, *number)), max_cpus)};
}

// The driver's files for a GPU include "numa_status", with a line like "Node:      8", only if the GPU's
// memory is a node. The speed in sysfs has the form "32.0 GT/s PCIe", where a transfer is one bit; the
// directory also has files that are not devices.
std::optional<double> fastest_gpu_link(const std::string& sysfs, const std::string& gpus) {
  if (has_gpu_with_node(gpus)) return nvlink_c2c;
  double fastest = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at(sysfs + "/bus/pci/drivers/nvidia", error), end;
       !error && at != end; at.increment(error)) {
    const std::string device = at->path().string();
    const double speed = std::strtod(first_line(device + "/max_link_speed").c_str(), nullptr) * 1e9;
    const double width = std::strtod(first_line(device + "/max_link_width").c_str(), nullptr);
    fastest = std::max(fastest, speed * width / 8);
  }
  return fastest > 0 ? std::optional(fastest) : std::nullopt;
}

// Makes the system call itself: glibc has no function for it, only libnuma does.
void place_memory(std::span<std::byte> pages, std::span<const unsigned> nodes) {
  if (nodes.empty()) return;
  constexpr unsigned word_bits = std::numeric_limits<unsigned long>::digits;
  std::array<unsigned long, max_nodes / word_bits> mask{};
  for (const unsigned node : nodes) mask.at(node / word_bits) |= 1UL << node % word_bits;
  const int policy =
      std::ranges::count(nodes, nodes[0]) == std::ssize(nodes) ? MPOL_PREFERRED : MPOL_INTERLEAVE;
  // The kernel subtracts 1 from the number of bits.
  syscall(SYS_mbind, pages.data(), pages.size(), policy, mask.data(), max_nodes + 1, MPOL_MF_MOVE);
}

CpuList thread_cpus() {
  CpuList cpus;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {};  // more CPUs than fit in the set
  for (unsigned cpu = 0; cpu < max_cpus; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

std::vector<unsigned> common(std::span<const unsigned> a, std::span<const unsigned> b) {
  std::vector<unsigned> numbers;
  std::ranges::set_intersection(a, b, std::back_inserter(numbers));
  return numbers;
}

CpuBinding::CpuBinding(std::span<const unsigned> cpus) {
  if (!cpus.empty()) before_ = thread_cpus();
  if (!before_.empty()) bind_thread(cpus);
}

CpuBinding::~CpuBinding() {
  if (!before_.empty()) bind_thread(before_);
}

}  // namespace gpuaes
