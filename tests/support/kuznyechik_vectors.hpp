// What the examples for Kuznyechik in RFC 7801, section 5, and GOST R 34.13-2015, appendix A.1, have in
// common.
#pragma once

#include <string_view>

namespace gpuaes {

inline constexpr std::string_view kuznyechik_key =
    "8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef";
inline constexpr std::string_view kuznyechik_plaintext =
    "1122334455667700ffeeddccbbaa9988 00112233445566778899aabbcceeff0a"
    "112233445566778899aabbcceeff0a00 2233445566778899aabbcceeff0a0011";

}  // namespace gpuaes
