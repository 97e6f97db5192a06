// Keys as SSH encodes them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/base64.hpp"
#include "keys/secret.hpp"
#include "keys/ssh_key.hpp"
#include "support/bytes.hpp"

namespace gpuaes {

inline Bytes ssh_strings(std::initializer_list<Bytes> strings) {
  Bytes encoded;
  for (const Bytes& each : strings) append_ssh_string(encoded, each);
  return encoded;
}

}  // namespace gpuaes
