// HeaderReader, which reads the header of an input.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"

namespace gpuaes {

inline constexpr char copy_again_hint[] = "copy or download it again";

// Reads the beginning of an input, but never past the header: the pipeline reads the rest.
class HeaderReader {
 public:
  // Reads at least 1 byte, but no more than fit in the span. Returns how many; 0 only at the end of the
  // input.
  using Read = std::function<std::size_t(std::span<std::byte>)>;

  // `first` is the offset of the first byte, modulo 2^64.
  explicit HeaderReader(Read read, std::uint64_t first = 0) : read_(std::move(read)), first_(first) {}

  // The next `size` bytes, without taking them; fewer only at the end of the input. The header must be at
  // least that long.
  std::span<const std::byte> peek(std::size_t size) {
    while (peeked_.size() < size && !ended_) {
      const std::size_t had = peeked_.size();
      peeked_.resize(size);
      const std::size_t count = read_(std::span(peeked_).subspan(had));
      peeked_.resize(had + count);
      ended_ = count == 0;
    }
    return std::span(peeked_).first(std::min(size, peeked_.size()));
  }

  // Whether the input begins with this text, in which '?' is any byte; false if the text is empty. Reads no
  // more than necessary: more may never arrive.
  bool begins_with(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::string_view begin = as_text(peek(i + 1));
      if (begin.size() <= i || (text[i] != '?' && begin[i] != text[i])) return false;
    }
    return !text.empty();
  }

  // The bytes that peek() has read and take() has not taken.
  std::span<const std::byte> peeked() const noexcept { return peeked_; }

  // Takes the next out.size() bytes. AuthError if the input ends before that.
  void take(std::span<std::byte> out) {
    const std::span<const std::byte> next = peek(out.size());
    if (next.size() < out.size())
      throw AuthError(fmt::format("the input is truncated after byte {}, in its header; nothing was written",
                                  taken() + next.size()),
                      copy_again_hint);
    std::copy(next.begin(), next.end(), out.begin());
    taken_.insert(taken_.end(), next.begin(), next.end());
    peeked_.erase(peeked_.begin(), peeked_.begin() + static_cast<std::ptrdiff_t>(next.size()));
  }

  // The offset after the bytes taken, and these bytes.
  std::uint64_t taken() const noexcept { return first_ + taken_.size(); }
  std::span<const std::byte> bytes() const noexcept { return taken_; }

 private:
  Read read_;
  std::vector<std::byte> peeked_;
  std::vector<std::byte> taken_;
  std::uint64_t first_;
  bool ended_ = false;  // not read again: a terminal would wait for more input
};

// A reader of a header in memory, which must outlive it.
inline HeaderReader reader_of(std::span<const std::byte> bytes) {
  return HeaderReader([rest = bytes](std::span<std::byte> out) mutable { return take_into(out, rest); });
}

}  // namespace gpuaes
