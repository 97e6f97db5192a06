// Where a value that was computed from secrets becomes public by design.
#pragma once

#if defined(GPUAES_MEMCHECK)
#include <valgrind/memcheck.h>
#endif

namespace gpuaes {

// The value, which attackers may learn: whether a tag is right, or a text well-formed. For Memcheck, which
// reports branches that depend on secrets (tests/constant_time); without it, this does nothing.
template <class T>
T as_public(T value) {
#if defined(GPUAES_MEMCHECK)
  (void)VALGRIND_MAKE_MEM_DEFINED(&value, sizeof value);
#endif
  return value;
}

}  // namespace gpuaes
