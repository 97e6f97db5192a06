// Counters for tests of counter mode.
#pragma once

#include <array>
#include <cstdint>

#include "cipher/modes/ctr.hpp"

namespace gpuaes {

// Half a counter with all bits set: the next increment carries.
inline constexpr std::uint64_t all = ~std::uint64_t{0};

// Counters that carry out of 32, 64 and 128 bits within a job, and one that does not.
inline constexpr std::array carrying_counters{Counter{0x0123456789abcdef, 0xfedcba9876543210},
                                              Counter{5, 0xffffffff},
                                              Counter{5, 0xfffffff0},
                                              Counter{5, 0xfffffffffffffffe},
                                              Counter{5, all},
                                              Counter{0xffffffff, all},
                                              Counter{all, all - 1},
                                              Counter{all, all}};

}  // namespace gpuaes
