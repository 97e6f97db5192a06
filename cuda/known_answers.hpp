// What a device must compute rightly before it may touch anyone's backup.
#pragma once

#include <cstddef>

#include "lane/lane.hpp"

namespace gpuaes::cuda {

// The most bytes that a job of test_known_answers() has on either side.
inline constexpr std::size_t known_answer_bytes = 96;

// Does published examples on the lane: every operation with that cipher. LaneError where one differs.
void test_known_answers(Lane& lane, Cipher cipher);

}  // namespace gpuaes::cuda
