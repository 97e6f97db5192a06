// What `gpuaes-bench sweep` found best on this machine's devices, kept for later runs in a small file of
// text.
//
// There is one for each model of device, in the user's cache. It holds for the version of the program that
// wrote it: kernels change.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace gpuaes {

// For the default AES kernel. 0: as it is without a tuning file.
struct Tuning {
  unsigned threads = 0;            // of a CUDA block: 32 to 1024, a multiple of 32
  unsigned blocks_per_thread = 0;  // of the cipher: up to 65536
  unsigned streams = 0;            // of a device, for files: up to 64

  bool operator==(const Tuning&) const = default;
};

// The model of the machine's NVIDIA devices, "NVIDIA H200", as the driver tells it without CUDA being
// started; none where there is no driver, where it does not tell, and where the devices are of several
// models.
std::optional<std::string> nvidia_model(const std::string& root = "/proc/driver/nvidia/gpus");

// The file for devices of that model, below XDG_CACHE_HOME or ~/.cache; none where there is neither.
std::optional<std::string> tuning_file(const std::string& model);

// None where there is no such file, and where it is of another device or version. A file that is no good is
// none either, and `warn` gets what to say of it. Never waits, whatever stands in the file's place.
std::optional<Tuning> read_tuning(const std::string& model,
                                  const std::function<void(const std::string&)>& warn);

// The file appears whole, in the place of an older one, or not at all. IoError.
void write_tuning(const std::string& model, const Tuning& tuning);

}  // namespace gpuaes
