// Swaps rows and columns of 16 x 16 bytes, in each 128 bits of 16 vectors by themselves. A part of the two
// bodies that include it.

// Four perfect shuffles of all vectors.
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
