// The control side of the program: one thread of Boost.Asio, beside those that move data, for signals and
// whatever else is not to wait for data. The only user of Boost.Asio.
#pragma once

#include <memory>

#include "io/cancel.hpp"

namespace gpuaes {

// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT request `cancel`, save those that were inherited as
// ignored (nohup, background jobs), and a request ends blocking calls.
class Control {
 public:
  explicit Control(Cancel& cancel);
  ~Control();

 private:
  struct Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace gpuaes
