// Sums of products in the field of MGM, of many blocks at a time, with the instruction for it where the CPU
// has one (PCLMULQDQ). No address and no branch depends on the factors or the data.
#pragma once

#include <cstddef>
#include <span>

#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/modes/mgm.hpp"

namespace gpuaes {

// Each block of `bytes`, the last one filled up with zeros, times its factor, added to `sum`. There are as
// many factors as blocks.
void add_products(std::span<const kuznyechik::Block> factors, std::span<const std::byte> bytes,
                  mgm::Product& sum);

// The same without special instructions.
void add_products_portable(std::span<const kuznyechik::Block> factors, std::span<const std::byte> bytes,
                           mgm::Product& sum);

}  // namespace gpuaes
