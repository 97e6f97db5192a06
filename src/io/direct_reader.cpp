#include "io/direct_reader.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace gpuaes {
namespace {

// The distance between the pages that is_cached() tests.
constexpr std::uint64_t sample_bytes = 256 << 10;

constexpr std::size_t block_bytes = DirectReader::block_bytes;

// A mapping of the file must not use up the address space that the rest of the program needs.
bool address_space_is_limited() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  return limit.rlim_cur != RLIM_INFINITY;
}

// The whole blocks that contain a range of the file, and the memory for them. The first and the last block
// also contain bytes outside the range, so they get memory of their own.
class Blocks {
 public:
  Blocks(std::uint64_t offset, std::span<std::byte> out)
      : before_(offset % block_bytes),
        head_(out.first((block_bytes - before_) % block_bytes)),
        tail_(out.last((before_ + out.size()) % block_bytes)),
        middle_(out.subspan(head_.size(), out.size() - head_.size() - tail_.size())) {
    if (!head_.empty()) memory_[count_++] = {first_.data(), block_bytes};
    memory_[count_++] = {middle_.data(), middle_.size()};
    if (!tail_.empty()) memory_[count_++] = {last_.data(), block_bytes};
  }
  ~Blocks() {
    explicit_bzero(first_.data(), block_bytes);
    explicit_bzero(last_.data(), block_bytes);
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  std::size_t before() const { return before_; }  // bytes before the range
  std::span<const iovec> memory() const { return std::span(memory_).first(count_); }

  // Completes the range after its first `size` bytes were read.
  void finish(std::size_t size) const {
    const std::size_t in_head = std::min(size, head_.size());
    const std::size_t in_tail = size - std::min(size, head_.size() + middle_.size());
    std::ranges::copy(std::span(first_).subspan(before_, in_head), head_.begin());
    std::ranges::copy(std::span(last_).first(in_tail), tail_.begin());
  }

 private:
  std::size_t before_;
  std::span<std::byte> head_, tail_, middle_;
  alignas(block_bytes) std::array<std::byte, block_bytes> first_{};
  alignas(block_bytes) std::array<std::byte, block_bytes> last_{};
  std::array<iovec, 3> memory_{};
  std::size_t count_ = 0;
};

}  // namespace

std::unique_ptr<DirectReader> DirectReader::open(const Fd& fd, std::uint64_t size) {
  if (address_space_is_limited()) return nullptr;
  Fd direct(::open(path_of_descriptor(fd.get()).c_str(), O_RDONLY | O_DIRECT | O_NOCTTY | O_CLOEXEC));
  if (direct.get() < 0) return nullptr;
  void* const pages = mmap(nullptr, size, PROT_NONE, MAP_SHARED, direct.get(), 0);
  if (pages == MAP_FAILED) return nullptr;  // an empty file, for example
  return std::unique_ptr<DirectReader>(
      new DirectReader(std::move(direct), static_cast<std::byte*>(pages), size));
}

DirectReader::DirectReader(Fd fd, std::byte* pages, std::uint64_t size)
    : fd_(std::move(fd)), pages_(pages), size_(size) {}

DirectReader::~DirectReader() {
  munmap(pages_, size_);
}

bool DirectReader::is_cached(std::uint64_t offset, std::uint64_t size) const {
  for (std::uint64_t at = offset; at < offset + size; at += sample_bytes)
    if (!is_page_cached(at)) return false;
  // If a small chunk were read through the cache because its beginning is cached, the kernel would read
  // ahead, and the next chunks would be read through the cache, too.
  return is_page_cached(offset + size - 1);
}

bool DirectReader::is_page_cached(std::uint64_t offset) const {
  static const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  return mincore(pages_ + offset / page_bytes * page_bytes, 1, &resident) != 0 || (resident & 1) != 0;
}

std::size_t DirectReader::read(std::uint64_t offset, std::span<std::byte> out, Cancel& cancel) const {
  const bool aligned = (reinterpret_cast<std::uintptr_t>(out.data()) - offset) % block_bytes == 0;
  if (!aligned || out.size() < 2 * block_bytes || fails_ || is_cached(offset, out.size())) return 0;
  const Blocks blocks(offset, out);
  const std::span<const iovec> memory = blocks.memory();
  ssize_t count;
  {
    Cancel::Blocking blocking(cancel);
    count = preadv(fd_.get(), memory.data(), static_cast<int>(memory.size()),
                   static_cast<off_t>(offset - blocks.before()));
    if (count < 0 && errno != EINTR) fails_ = true;
  }
  if (count <= static_cast<ssize_t>(blocks.before())) return 0;
  const std::size_t size = std::min(static_cast<std::size_t>(count) - blocks.before(), out.size());
  blocks.finish(size);
  return size;
}

}  // namespace gpuaes
