#include "support/catch.hpp"

int main(int argc, char** argv) {
  return gpuaes::run_tests(argc, argv);
}
