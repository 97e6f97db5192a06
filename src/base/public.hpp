// Computing with secrets in constant time, and where a value that was computed from them becomes public by
// design.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#if defined(GPUAES_MEMCHECK)
#include <valgrind/memcheck.h>
#endif

namespace gpuaes {

// Declares bytes public: attackers may learn them. For Memcheck, which reports branches that depend on
// secrets (tests/constant_time); without it, this does nothing.
inline std::span<const std::byte> as_public(std::span<const std::byte> bytes) {
#if defined(GPUAES_MEMCHECK)
  (void)VALGRIND_MAKE_MEM_DEFINED(bytes.data(), bytes.size());
#endif
  return bytes;
}

// The same for a value, such as whether a tag is right or a text is well-formed.
template <std::integral T>
T as_public(T value) {
  as_public(std::as_bytes(std::span(&value, 1)));
  return value;
}

// All ones if first <= c <= last, otherwise zero. All three are bytes. Takes the same time for all of them.
inline unsigned mask_between(unsigned c, unsigned first, unsigned last) {
  return (((c - first) | (last - c)) >> 31) - 1;
}

}  // namespace gpuaes
