// A fuzzer's bytes as a program, which makes choices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpuaes {

class Program {
 public:
  explicit Program(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  std::uint64_t any(int size = 8) {  // zeros when there are no more bytes
    std::uint64_t value = 0;
    for (; size > 0 && !bytes_.empty(); --size) {
      value = value << 8 | std::to_integer<std::uint8_t>(bytes_.front());
      bytes_ = bytes_.subspan(1);
    }
    return value;
  }
  std::size_t number(std::size_t below) { return any(3) % below; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace gpuaes
