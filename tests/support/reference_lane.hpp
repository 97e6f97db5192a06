// A lane with which tests compare all others: AES as in FIPS 197, GCM as in SP 800-38D, Kuznyechik as in RFC
// 7801, MGM as in RFC 9058 and ChaCha20-Poly1305 as in RFC 8439, one block at a time.
#pragma once

#include <memory>

#include "lane/lane.hpp"

namespace gpuaes {

std::unique_ptr<Lane> make_reference_lane();

}  // namespace gpuaes
