// What Catch2 v2 and v3 call differently: the base of a class that follows the progress of a test program.
// Include this before any other header that includes Catch2.
#pragma once

#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include "support/catch.hpp"

namespace gpuaes {

#if CATCH_VERSION_MAJOR >= 3
using ListenerBase = Catch::EventListenerBase;
#else
using ListenerBase = Catch::TestEventListenerBase;
#endif

}  // namespace gpuaes
