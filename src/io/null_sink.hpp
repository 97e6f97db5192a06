// An output that nobody wants.
#pragma once

#include <span>

#include "io/cancel.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

// Takes everything, until the program is told to stop.
class NullSink : public Sink {
 public:
  explicit NullSink(const Cancel& cancel) : cancel_(cancel) {}
  void write(std::span<const std::byte>) override { cancel_.check(); }
  void finish() override {}

 private:
  const Cancel& cancel_;
};

}  // namespace gpuaes
