// Catch2 as the system provides it: v3 (Ubuntu 24.04) or v2 (Debian 12).
#pragma once

#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

namespace gpuaes {

// Called by a test case that cannot run on this system, before it returns. If no other one ran, the program
// exits with 77, and CTest reports it as skipped.
void skip(const std::string& why);

// Runs the test cases that the arguments select. Returns the exit status.
int run_tests(int argc, char** argv);

}  // namespace gpuaes
