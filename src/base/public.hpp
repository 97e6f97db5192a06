// Where a value that was computed from secrets becomes public by design.
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

}  // namespace gpuaes
