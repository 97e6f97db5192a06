// Transposes 16 x 16 bytes, separately in each 128-bit part of 16 vectors. Included by bitslice_simd_body.hpp
// and shuffle_simd_body.hpp.

// Four perfect shuffles of the vectors.
GPUAES_TARGET inline void transpose(Vector* rows) {
  for (int step = 0; step < 4; ++step) {
    Vector shuffled[16];
    for (unsigned i = 0; i < 8; ++i) {
      shuffled[2 * i] = interleave_lower(rows[i], rows[i + 8]);
      shuffled[2 * i + 1] = interleave_upper(rows[i], rows[i + 8]);
    }
    for (unsigned i = 0; i < 16; ++i) rows[i] = shuffled[i];
  }
}
