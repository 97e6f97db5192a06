#include "format/parts/directory.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "base/error.hpp"
#include "format/parts/files.hpp"
#include "format/parts/indexed_source.hpp"

namespace gpuaes {
namespace {

// More than the lanes read at the same time. Other parts can be opened again.
constexpr std::size_t max_open_files = 64;

class DirectoryParts : public IndexedParts {
 public:
  DirectoryParts(const PartsDirectory& input, PartsSession& session, bool salvage, Cancel& cancel)
      : IndexedParts(session, salvage), directory_(input.directory), salvage_(salvage), cancel_(cancel) {
    set_index(read_index_file(input.index, session.secret()));
    const std::uint64_t rest_of_index = input.index.size().value_or(0) - frame_header_bytes;
    framing_bytes_ = rest_of_index + index().count() * std::uint64_t{frame_header_bytes};
  }

  void check_files() const {
    for (std::uint32_t number = 0; number < index().count(); ++number) {
      cancel_.check();
      const std::optional<struct stat> status = directory_.status_of(part_name(number));
      check_size(number, status && S_ISREG(status->st_mode)
                             ? std::optional(static_cast<std::uint64_t>(status->st_size))
                             : std::nullopt);
    }
  }

  std::uint64_t framing_bytes() const override { return framing_bytes_; }
  void skip_to(std::uint64_t) override {}

  // Whether most of the first part is not in the page cache.
  bool prepare_parallel() override {
    direct_ = true;
    const std::shared_ptr<FdSource> first = open_file(0);
    return first && first->prepare_parallel();
  }

 private:
  using File = std::shared_ptr<FdSource>;  // null if the file is missing

  std::optional<FrameHeader> header_of(const PartPlace& part) const override {
    const File file = open_file(part.number);
    if (!file || file->size().value_or(0) < frame_header_bytes) return std::nullopt;
    return read_frame_header(*file, 0);
  }

  // What is missing becomes zeros, which do not verify.
  void read_segments(const PartPlace& part, std::uint64_t offset, std::span<std::byte> out) const override {
    const File file = open_file(part.number);
    const std::uint64_t size = file ? file->size().value_or(0) : 0, at = frame_header_bytes + offset;
    const auto present =
        static_cast<std::size_t>(std::min<std::uint64_t>(size - std::min(size, at), out.size()));
    if (present > 0) file->read_at(at, out.first(present));
    std::ranges::fill(out.subspan(present), std::byte{0});
  }

  std::size_t place_in_page(std::uint64_t offset) const override {
    const PartPlace part = index().part_at(offset);
    const File file = open_file(part.number);
    return file ? file->place_in_page(frame_header_bytes + offset - part.begin) : 0;
  }

  void check_size(std::uint32_t number, std::optional<std::uint64_t> size) const {
    const std::string name = directory_.name_of(part_name(number));
    if (!size) throw AuthError(fmt::format("{} is missing", name));
    const std::uint64_t expected = frame_header_bytes + sealed_size(index().entry(number).length);
    if (*size != expected) throw AuthError(fmt::format("{} has {} bytes, not {}", name, *size, expected));
  }

  File open_file(std::uint32_t number) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(files_, number, &NumberedFile::first);
    if (found != files_.end()) return found->second;
    std::optional<FdSource> opened = directory_.open(part_name(number), cancel_);
    if (!salvage_) check_size(number, opened ? opened->size() : std::nullopt);
    File file = opened ? std::make_shared<FdSource>(std::move(*opened)) : nullptr;
    if (file && direct_) file->prepare_parallel();
    if (files_.size() == max_open_files) files_.pop_front();
    files_.emplace_back(number, file);
    return file;
  }

  const Directory& directory_;
  const bool salvage_;
  Cancel& cancel_;
  std::uint64_t framing_bytes_ = 0;
  bool direct_ = false;  // read data that is not in the page cache directly

  using NumberedFile = std::pair<std::uint32_t, File>;
  mutable std::mutex mutex_;
  mutable std::deque<NumberedFile> files_;  // the last ones opened
};

FdSource open_needed(const Directory& directory, const char* file, Cancel& cancel) {
  std::optional<FdSource> opened = directory.open(file, cancel);
  if (!opened) throw AuthError(fmt::format("{} is missing", directory.name_of(file)));
  return std::move(*opened);
}

}  // namespace

PartsDirectory open_parts_directory(const std::string& name, Cancel& cancel) {
  Directory directory(name);
  require_joined(directory);
  FdSource index = open_needed(directory, index_name, cancel);
  return {std::move(directory), std::move(index)};
}

FdSource open_head(const PartsDirectory& input, Cancel& cancel) {
  return open_needed(input.directory, head_name, cancel);
}

std::unique_ptr<PartsSource> make_directory_parts(const PartsDirectory& input, PartsSession& session,
                                                  bool all, bool salvage, Cancel& cancel) {
  auto parts = std::make_unique<DirectoryParts>(input, session, salvage, cancel);
  if (all && !salvage) parts->check_files();
  return parts;
}

}  // namespace gpuaes
