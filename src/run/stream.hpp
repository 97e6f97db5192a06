// What a run moves: from a source, by a session, to a sink. Ranges and salvage put themselves in between.
#pragma once

#include "format/format.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

struct Stream {
  Source* source;  // of the body
  const Session* session;
  Sink* sink;
};

}  // namespace gpuaes
