// The sizes of a file made of parts, from its frame headers alone: without a key, and not authenticated.
#pragma once

#include <cstdint>

#include "cipher/ciphers.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

struct PartsLayout {
  std::uint64_t parts = 0, segments = 0, plaintext = 0;  // of the parts present as a whole; sizes in bytes
  bool complete = false;                                 // and the index and the number of parts follow them
};

// The parts that begin at byte `begin` of an input of `size` bytes.
PartsLayout read_parts_layout(const Source& input, std::uint64_t begin, std::uint64_t size, Cipher cipher);

}  // namespace gpuaes
