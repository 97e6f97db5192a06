// The encoding of SSH keys (RFC 4251, section 5): strings with their length before them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.hpp"

namespace gpuaes {

inline constexpr std::size_t ssh_length_bytes = 4;

// Takes fields from the beginning of `bytes`. Fields that exceed them are empty, and so are all after them.
class SshReader {
 public:
  explicit SshReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::span<const std::byte> take(std::size_t size) {
    if (size > rest_.size()) failed_ = true;
    if (failed_) return {};
    const std::span<const std::byte> taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }

  std::uint32_t number() { return static_cast<std::uint32_t>(load_big_endian(take(ssh_length_bytes))); }
  std::span<const std::byte> string() { return take(number()); }

  // A positive mpint, without the zero byte before a high bit; empty unless it is canonical.
  std::span<const std::byte> positive_number() {
    constexpr std::byte high_bit{0x80};
    const std::span<const std::byte> digits = string();
    const bool has_zero = !digits.empty() && digits.front() == std::byte{0};
    const std::span<const std::byte> number = digits.subspan(has_zero ? 1 : 0);
    const bool needs_zero = !number.empty() && (number.front() & high_bit) != std::byte{0};
    return has_zero == needs_zero ? number : std::span<const std::byte>();
  }

  std::span<const std::byte> rest() const { return rest_; }
  bool failed() const { return failed_; }
  bool is_complete() const { return !failed_ && rest_.empty(); }  // whether the fields fill the bytes

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

inline void append_ssh_string(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.resize(out.size() + ssh_length_bytes);
  store_big_endian(bytes.size(), std::span(out).last(ssh_length_bytes));
  append(out, bytes);
}

// A positive number, whose first byte is not zero, as an mpint.
inline void append_ssh_number(std::vector<std::byte>& out, std::span<const std::byte> number) {
  constexpr std::byte zero[1]{};
  const bool needs_zero = (number.front() & std::byte{0x80}) != std::byte{0};
  append_ssh_string(out, concatenate(std::span(zero).first(needs_zero ? 1 : 0), number));
}

}  // namespace gpuaes
