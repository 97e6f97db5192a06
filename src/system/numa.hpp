// How devices are attached, as sysfs says: the speed of their links, and on a host with several NUMA nodes,
// the node whose CPUs and memory are closest. Tests replace `sysfs`.
//
// All this only affects speed, so nothing here fails: a container may hide sysfs or forbid the system calls,
// and then the kernel places threads and memory.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuaes {

using CpuList = std::vector<unsigned>;  // in ascending order

struct NumaNode {
  unsigned number;
  CpuList cpus;  // empty if unknown
};

// The node of a PCI device, whose address has the form "0000:17:00.0". None if the node is unknown, lacks
// CPUs or memory, or is the only one with both. Nodes without CPUs may be the memory of GPUs.
std::optional<NumaNode> node_of_pci_device(std::string_view address, const std::string& sysfs = "/sys");

// Bytes per second, in each direction, of the fastest link to a GPU with NVIDIA's driver, at its maximum
// speed and width. It is NVLink-C2C if a GPU's memory is a node; otherwise, sysfs has the speed of PCIe. None
// if there is no such GPU, or if sysfs does not say.
std::optional<double> fastest_gpu_link(const std::string& sysfs = "/sys",
                                       const std::string& gpus = "/proc/driver/nvidia/gpus");

// Places whole pages on one node, or on several nodes in turn, and moves pages that are already in use. They
// go elsewhere if there is no room. Without nodes, the kernel places pages as usual.
void place_memory(std::span<std::byte> pages, std::span<const unsigned> nodes);

// The CPUs that the calling thread may use; empty if unknown.
CpuList thread_cpus();

// The numbers in both lists, which are in ascending order.
std::vector<unsigned> common(std::span<const unsigned> a, std::span<const unsigned> b);

// Binds the calling thread to CPUs for as long as this exists. An empty list changes nothing.
class CpuBinding {
 public:
  explicit CpuBinding(std::span<const unsigned> cpus);
  ~CpuBinding();
  CpuBinding(const CpuBinding&) = delete;
  CpuBinding& operator=(const CpuBinding&) = delete;

 private:
  CpuList before_;  // empty if not bound
};

}  // namespace gpuaes
