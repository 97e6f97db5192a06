#include "run/window.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/texts.hpp"

namespace gpuaes {

WindowSource::WindowSource(Source& whole, std::uint64_t begin, std::uint64_t size)
    : whole_(whole), begin_(begin), size_(size) {
  whole_.skip_to(begin_);
}

std::size_t WindowSource::read(std::span<std::byte> out) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_ - at_));
  if (wanted == 0) return 0;
  const std::size_t count = whole_.read(out.first(wanted));
  if (count == 0) throw IoError(text::ends_early);
  at_ += count;
  return count;
}

bool WindowSource::ready(std::chrono::milliseconds patience) {
  return at_ == size_ || whole_.ready(patience);
}

std::uint64_t WindowSource::parallel_size() const {
  return whole_.parallel_size() > 0 ? size_ : 0;
}

void WindowSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  whole_.read_at(begin_ + offset, out);
}

void WindowSource::skip_to(std::uint64_t offset) {
  whole_.skip_to(begin_ + offset);
  at_ = offset;
}

WindowSink::WindowSink(Sink& inner, std::uint64_t skipped, std::uint64_t size)
    : inner_(inner), to_skip_(skipped), to_pass_(size) {}

void WindowSink::write(std::span<const std::byte> bytes) {
  const auto skip = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), to_skip_));
  to_skip_ -= skip;
  bytes = bytes.subspan(skip);
  const auto pass = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), to_pass_));
  if (pass == 0) return;
  inner_.write(bytes.first(pass));
  to_pass_ -= pass;
  passed_ += pass;
}

}  // namespace gpuaes
