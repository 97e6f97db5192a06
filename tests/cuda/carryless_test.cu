// Carry-less products on the GPU: by integer multiplication, and as the kernels of this build compute them,
// which may be with clmad. Needs a GPU.
#include "cipher/modes/carryless_product.hpp"

#include <type_traits>
#include <vector>

#include "runtime.hpp"
#include "support/carryless_cases.hpp"
#include "support/catch.hpp"

namespace gpuaes::cuda {
namespace {

template <bool by_integers>
__global__ void add_products(CarrylessCase* cases, std::size_t count) {
  using Factor = std::conditional_t<by_integers, carryless::IntegerFactor, carryless::Factor>;
  const std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) Factor(cases[i].y).add_product(cases[i].x, cases[i].sum);
}

template <bool by_integers>
std::vector<carryless::Product> sums_of(std::vector<CarrylessCase> cases) {
  const std::size_t size = cases.size() * sizeof(CarrylessCase);
  const DeviceBuffer device(size);
  check(cudaMemcpy(device.data(), cases.data(), size, cudaMemcpyHostToDevice));
  constexpr unsigned threads = 128;
  add_products<by_integers><<<static_cast<unsigned>(cases.size() / threads + 1), threads>>>(
      reinterpret_cast<CarrylessCase*>(device.data()), cases.size());
  check(cudaGetLastError());
  check(cudaMemcpy(cases.data(), device.data(), size, cudaMemcpyDeviceToHost));
  std::vector<carryless::Product> sums;
  for (const CarrylessCase& each : cases) sums.push_back(each.sum);
  return sums;
}

}  // namespace

TEST_CASE("carry-less products on the GPU match bit-by-bit multiplication", "[gpu]") {
  const std::vector<CarrylessCase> cases = carryless_cases(65536);
  CHECK(count_right(cases, sums_of<true>(cases)) == cases.size());
  CHECK(count_right(cases, sums_of<false>(cases)) == cases.size());
}

}  // namespace gpuaes::cuda
