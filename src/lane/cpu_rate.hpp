// Measures how fast CPU lanes are.
#pragma once

#include "cipher/ciphers.hpp"

namespace gpuaes {

// Bytes of plaintext per second that a CPU lane seals, or encrypts in counter mode, on the CPU of the calling
// thread. The data is in the CPU's cache. Takes 1 to 3 ms. LaneError.
double measure_cpu_lane(Cipher cipher, bool authenticated);

}  // namespace gpuaes
