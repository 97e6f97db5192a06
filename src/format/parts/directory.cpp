#include "format/parts/directory.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "base/error.hpp"

namespace gpuaes {
namespace {

// More than the lanes read at the same time. Other parts can be opened again.
constexpr std::size_t max_open_files = 64;

class DirectoryParts : public IndexedParts {
 public:
  DirectoryParts(const PartsDirectory& input, OpenParts& parts)
      : IndexedParts(parts, read_index_file(input.index, parts.secret)), input_(input) {}

  void check_files() const {
    for (std::uint32_t number = 0; number < index()->count(); ++number) {
      input_.cancel.check();
      const std::optional<struct stat> status = input_.directory.status_of(part_name(number));
      check_size(number, status && S_ISREG(status->st_mode)
                             ? std::optional(static_cast<std::uint64_t>(status->st_size))
                             : std::nullopt);
    }
  }

  // The header of the index has been read with the head.
  std::uint64_t framing_bytes() const override {
    return input_.index.size().value_or(0) + (index()->count() - std::uint64_t{1}) * frame_header_bytes;
  }

  void skip_to(std::uint64_t offset) override { first_ = index()->part_at(offset).number; }

  // Whether most of the first part to be read is not in the page cache. Whether it is complete is checked
  // when it is read.
  bool prepare_parallel() override {
    direct_ = true;
    std::optional<FdSource> first = input_.directory.open(part_name(first_), input_.cancel);
    return first && first->prepare_parallel();
  }

 private:
  using File = std::shared_ptr<FdSource>;  // null if the file is missing

  Stored find(const PartPlace& part) const override {
    const File file = open_file(part.number);
    return {file, file ? file->size().value_or(0) : 0};
  }

  void check_size(std::uint32_t number, std::optional<std::uint64_t> size) const {
    const std::string name = input_.directory.name_of(part_name(number));
    if (!size) throw AuthError(fmt::format("{} is missing", name));
    const std::uint64_t expected = frame_header_bytes + sealed_size(index()->entry(number).length);
    if (*size != expected) throw AuthError(fmt::format("{} has {} bytes, not {}", name, *size, expected));
  }

  File open_file(std::uint32_t number) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(files_, number, &NumberedFile::first);
    if (found != files_.end()) return found->second;
    std::optional<FdSource> opened = input_.directory.open(part_name(number), input_.cancel);
    if (!parts_.salvage) check_size(number, opened ? opened->size() : std::nullopt);
    File file = opened ? std::make_shared<FdSource>(std::move(*opened)) : nullptr;
    if (file && direct_) file->prepare_parallel();
    if (files_.size() == max_open_files) files_.pop_front();
    files_.emplace_back(number, file);
    return file;
  }

  const PartsDirectory& input_;
  std::uint32_t first_ = 0;
  bool direct_ = false;  // read data that is not in the page cache directly

  using NumberedFile = std::pair<std::uint32_t, File>;
  mutable std::mutex mutex_;
  mutable std::deque<NumberedFile> files_;  // the last ones opened
};

}  // namespace

std::string part_name(std::uint32_t number) {
  return fmt::format("part.{:07}", number);
}

void require_joined(const Directory& directory, const Hint& otherwise) {
  if (directory.has(index_name)) return;
  if (directory.has(head_name))
    throw IoError(fmt::format("{} is not joined", directory.name()),
                  "when all parts are complete, run gpuaes-parts join");
  throw IoError(fmt::format("{} does not contain a sealed file in parts", directory.name()), otherwise);
}

PartsDirectory open_parts_directory(const std::string& name, Cancel& cancel) {
  Directory directory(name);
  require_joined(directory, fmt::format("to open encrypted files in it, name them, for example {}*.age",
                                        name.ends_with('/') ? name : name + "/"));
  FdSource index = open_needed(directory, index_name, cancel);
  return {std::move(directory), std::move(index), cancel};
}

FdSource open_needed(const Directory& directory, const std::string& file, Cancel& cancel) {
  std::optional<FdSource> opened = directory.open(file, cancel);
  if (!opened) throw AuthError(fmt::format("{} is missing", directory.name_of(file)));
  return std::move(*opened);
}

std::unique_ptr<BodySource> make_directory_parts(const PartsDirectory& input, OpenParts& parts, bool all) {
  auto source = std::make_unique<DirectoryParts>(input, parts);
  if (all && !parts.salvage) source->check_files();
  return source;
}

}  // namespace gpuaes
