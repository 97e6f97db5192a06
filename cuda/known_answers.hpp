// The self-test that a device must pass before it processes any data.
#pragma once

#include <cstddef>

#include "lane/lane.hpp"

namespace gpuaes::cuda {

// The largest input or output of a job of test_known_answers().
inline constexpr std::size_t known_answer_bytes = 144;

// Runs published examples of every operation with that cipher on the lane. LaneError if a result differs.
void test_known_answers(Lane& lane, Cipher cipher);

}  // namespace gpuaes::cuda
