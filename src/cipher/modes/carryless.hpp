// Sums of products in the field of MGM, before reduction, for many blocks at a time, with PCLMULQDQ if the
// CPU supports it. No memory address or branch depends on the factors or the data.
#pragma once

#include <cstddef>
#include <span>

#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/modes/mgm.hpp"

namespace gpuaes {

// Adds to `sum` the products of the blocks of `bytes`, the last one padded with zeros, and their factors.
// There are as many factors as blocks.
void add_products(std::span<const kuznyechik::Block> factors, std::span<const std::byte> bytes,
                  mgm::Product& sum);

// The same without special instructions.
void add_products_portable(std::span<const kuznyechik::Block> factors, std::span<const std::byte> bytes,
                           mgm::Product& sum);

}  // namespace gpuaes
