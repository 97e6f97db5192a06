// Where a value that was computed from secrets becomes public by design.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#if defined(GPUAES_MEMCHECK)
#include <valgrind/memcheck.h>
#endif

namespace gpuaes {

// The bytes, which attackers may learn. For Memcheck, which reports branches that depend on secrets
// (tests/constant_time); without it, this does nothing.
inline std::span<const std::byte> as_public(std::span<const std::byte> bytes) {
#if defined(GPUAES_MEMCHECK)
  (void)VALGRIND_MAKE_MEM_DEFINED(bytes.data(), bytes.size());
#endif
  return bytes;
}

// The same for a value: whether a tag is right, or a text well-formed.
template <std::integral T>
T as_public(T value) {
  as_public(std::as_bytes(std::span(&value, 1)));
  return value;
}

}  // namespace gpuaes
