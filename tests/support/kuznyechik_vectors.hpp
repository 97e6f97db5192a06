// Published test vectors for Kuznyechik.
#pragma once

#include <string_view>

namespace gpuaes {

// RFC 7801, section 5, and GOST R 34.13-2015, appendix A.1.
inline constexpr std::string_view kuznyechik_key =
    "8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef";
inline constexpr std::string_view kuznyechik_plaintext =
    "1122334455667700ffeeddccbbaa9988 00112233445566778899aabbcceeff0a"
    "112233445566778899aabbcceeff0a00 2233445566778899aabbcceeff0a0011";

// RFC 9058, appendix A.1.
struct MgmVector {
  std::string_view key, nonce, aad, plaintext, ciphertext, tag;
};

inline constexpr MgmVector mgm_vectors[] = {
    {"8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef", "1122334455667700ffeeddccbbaa9988",
     "02020202020202020101010101010101 04040404040404040303030303030303 ea0505050505050505",
     "1122334455667700ffeeddccbbaa9988 00112233445566778899aabbcceeff0a"
     "112233445566778899aabbcceeff0a00 2233445566778899aabbcceeff0a0011 aabbcc",
     "a9757b8147956e9055b8a33de89f42fc 8075d2212bf9fd5bd3f7069aadc16b39"
     "497ab15915a6ba85936b5d0ea9f6851c c60c14d4d3f883d0ab94420695c76deb 2c7552",
     "cf5d656f40c34f5c46e8bb0e29fcdb4c"},
    {"99aabbccddeeff0011223344556677fedcba98765432100123456789abcdef88", "1122334455667700ffeeddccbbaa9988",
     "01010101010101010101010101010101", "", "", "7901e9ea2085cd247ed249695f9f8a85"},
};

}  // namespace gpuaes
