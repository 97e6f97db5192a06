#include "io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/magic.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/unicode.hpp"
#include "io/access.hpp"
#include "io/fd_source_sink.hpp"

namespace gpuaes {
namespace {

// Data is written to disk in steps of this size while the program runs, which leaves little for fsync(2) at
// the end.
constexpr std::uint64_t flush_bytes = 8 << 20;

// Space for direct writes is allocated in steps of this size.
constexpr std::uint64_t allocate_bytes = 256 << 20;

// The size of a hole in a sparse file, and where it may begin: a page, which most file systems store as a
// block.
constexpr std::size_t hole_bytes = 4096;

TempFile::Rules temp_rules(const SinkRules& rules) {
  TempFile::Rules temp = rules.temp;
  // Losing the work at the end costs much more than trying names at the beginning.
  temp.try_naming = rules.bytes.value_or(large_output) >= large_output;
  return temp;
}

bool is_zero(std::span<const std::byte> bytes) {
  return bytes.front() == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

class OutputFile : public Sink {
 public:
  OutputFile(const OutputTarget& target, const SinkRules& rules, Cancel& cancel)
      : target_{target.directory, target.path, target.name, target.file},
        rules_(rules),
        cancel_(cancel),
        file_(std::make_unique<TempFile>(target_, temp_rules(rules))),
        sink_(file_->take_fd(), target_.name, cancel) {}

  // Reserves space, which limits fragmentation and detects a full disk early. Useless in tmpfs, where it
  // would only touch all of the memory twice.
  void expect(std::uint64_t size) override {
    struct statfs file_system {};
    const int fd = sink_.fd().get();
    if (fstatfs(fd, &file_system) != 0 || file_system.f_type == TMPFS_MAGIC) return;
    int error = 0;
    do {
      cancel_.check();
      error = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size)) == 0 ? 0 : errno;
    } while (error == EINTR);
    if (error == ENOSPC || error == EDQUOT)
      throw IoError(
          io_error("cannot write", target_.name, error).what(),
          fmt::format("{} bytes are needed; free some space, or write to another file system", size));
    if (error == EFBIG) throw io_error("cannot write", target_.name, error);
    expected_ = error == 0 ? size : 0;
  }

  bool limited_by_disk() const override {
    return is_large() && !rules_.sparse && DirectWriter::supports(sink_.fd().get());
  }

  std::optional<std::size_t> place_in_page() const override {
    return sink_.is_direct() ? std::optional(written_ % Sink::page_bytes) : std::nullopt;
  }

  void write(std::span<const std::byte> bytes) override {
    if (!tried_direct_ && is_large()) begin_direct();
    if (sink_.is_direct()) allocate(written_ + bytes.size());
    rules_.sparse ? write_sparse(bytes) : sink_.write(bytes);
    written_ += bytes.size();
    if (sink_.is_direct()) flushed_ = written_;
    if (written_ - flushed_ < flush_bytes) return;
    // Only starts the write; fsync(2) reports errors.
    sync_file_range(sink_.fd().get(), static_cast<off_t>(flushed_), static_cast<off_t>(written_ - flushed_),
                    SYNC_FILE_RANGE_WRITE);
    flushed_ = written_;
  }

  void overwrite(std::uint64_t offset, std::span<const std::byte> bytes) override {
    sink_.overwrite(offset, bytes);
  }

  void finish() override {
    sink_.end_direct();
    const std::uint64_t allocated = std::max(expected_, allocated_);
    if ((rules_.sparse || written_ < allocated) && !set_size(sink_.fd().get(), written_))
      throw io_error("cannot write", target_.name, errno);
    if (rules_.complete) rules_.complete(sink_.fd().get());
    // The sync must include the access, so it is set first. It is set again afterward, because the access of
    // the old file may change during a long sync.
    if (rules_.durable) {
      or_keep([&] { set_access(*file_, sink_.fd().get()); });
      sink_.sync();
    }
    if (allocated_ > 0)
      posix_fadvise(sink_.fd().get(), 0, 0, POSIX_FADV_DONTNEED);  // from before direct writes
    bool changed = false;
    or_keep([&] { changed = set_access(*file_, sink_.fd().get()); });
    if (rules_.durable && changed) sink_.sync();
    warn_of_lost_access();
    sink_.finish();
  }

  void publish(const std::function<void()>& last_step) override {
    cancel_.check();  // fsync() is mostly uninterruptible
    if (rules_.check) rules_.check();
    or_keep([&] {
      last_step();
      give_name();
    });
    if (rules_.durable && rules_.durable_name) file_->sync_directory();
  }

 private:
  bool is_large() const {
    return std::max({rules_.bytes.value_or(0), expected_, written_}) >= rules_.direct_from;
  }

  void begin_direct() {
    tried_direct_ = true;
    allocated_ = written_;
    if (!rules_.sparse) sink_.begin_direct();
  }

  // Makes the file at least `size` bytes long: a direct write that extends a file is slower. finish() sets
  // the final size. Errors are ignored: if the disk is full, a later write fails.
  void allocate(std::uint64_t size) {
    if (size <= allocated_) return;
    const std::uint64_t expected = std::max(expected_, rules_.bytes.value_or(0));
    std::uint64_t ahead = expected_ >= size ? allocate_bytes : std::min(allocate_bytes, unreserved() / 16);
    if (expected >= size) ahead = std::min(ahead, expected - size);
    const std::uint64_t begin = std::exchange(allocated_, size + ahead);
    fallocate(sink_.fd().get(), 0, static_cast<off_t>(begin), static_cast<off_t>(allocated_ - begin));
  }

  // Bytes of free space, which other programs may need.
  std::uint64_t unreserved() const {
    struct statvfs space {};
    return fstatvfs(sink_.fd().get(), &space) == 0 ? std::uint64_t{space.f_bavail} * space.f_frsize : 0;
  }

  // All data was written, so a failure of `step` does not mean that the output is bad.
  void or_keep(const std::function<void()>& step) {
    try {
      step();
    } catch (const FileExists&) {  // another attempt has finished
      throw;
    } catch (const IoError& error) {
      if (!rules_.keep) throw;
      throw_kept(error.what());
    } catch (const std::bad_alloc&) {
      if (!rules_.keep) throw;
      throw_kept("out of memory");
    }
  }

  [[noreturn]] void throw_kept(const std::string& failure) {
    if (sink_.fd().get() >= 0) sink_.sync();
    const std::optional<std::string> kept = file_->keep(cancel_);
    throw IoError(failure, kept ? fmt::format("the complete output is in {}", *kept)
                                : "the complete output could not be kept");
  }

  void give_name() {
    try {
      file_->publish();
    } catch (const FileExists&) {
      throw;
    } catch (const IoError&) {
      Fd nameless = file_->reopen();
      if (nameless.get() < 0 || !copy_to_named_file(std::move(nameless))) throw;
      file_->publish();
    }
  }

  // Links may be forbidden, for example by Landlock. Then only a file that always had a name can be renamed.
  bool copy_to_named_file(Fd nameless) try {
    TempFile::Rules rules = rules_.temp;
    rules.nameless = false;
    rules.try_naming = true;
    auto named = std::make_unique<TempFile>(target_, rules);
    FdSource source(std::move(nameless), target_.name, cancel_);
    FdSink sink(named->take_fd(), target_.name, cancel_);
    std::atomic<std::uint64_t> copied = 0;
    copy_rest(source, sink, copied);
    if (rules_.complete) rules_.complete(sink.fd().get());
    set_access(*named, sink.fd().get());
    warn_of_lost_access();
    sink.sync();
    sink.finish();
    file_ = std::move(named);
    return true;
  } catch (const FileExists&) {
    throw;
  } catch (const IoError&) {
    return false;
  }

  // Writes what is between holes.
  void write_sparse(std::span<const std::byte> bytes) {
    std::uint64_t at = written_;
    std::size_t pending = 0;
    while (pending < bytes.size()) {
      const std::span<const std::byte> rest = bytes.subspan(pending);
      const auto block = rest.first(std::min<std::size_t>(hole_bytes - at % hole_bytes, rest.size()));
      if (is_zero(block)) {
        sink_.write(bytes.first(pending));
        sink_.skip(block.size());
        bytes = bytes.subspan(pending + block.size());
        pending = 0;
      } else {
        pending += block.size();
      }
      at += block.size();
    }
    sink_.write(bytes);
  }

  // Gives the output the current access of the file that it replaces, or that of a new file. Returns whether
  // this changed it.
  bool set_access(const TempFile& file, int fd) {
    lost_.clear();
    const Fd old = file.open_old();
    if (old.get() < 0 && has_mode(fd, file.new_mode())) return false;
    const Access before = access_of(fd);
    if (old.get() >= 0)
      lost_ = keep_access(fd, old.get(), rules_.temp.mode ? std::optional(file.new_mode()) : std::nullopt,
                          target_.name);
    else if (!set_mode(fd, file.new_mode(), target_.name))
      lost_.emplace_back("mode");
    return access_of(fd) != before;
  }

  void warn_of_lost_access() const {
    if (!lost_.empty() && rules_.warn)
      rules_.warn(fmt::format("could not preserve the {} of {}; no additional access was granted",
                              fmt::join(lost_, ", "), target_.name));
  }

  const TempFile::Target target_;
  const SinkRules rules_;
  Cancel& cancel_;
  std::unique_ptr<TempFile> file_;
  FdSink sink_;
  std::uint64_t expected_ = 0;   // bytes of space reserved
  std::uint64_t allocated_ = 0;  // bytes of the file, if it is written directly
  bool tried_direct_ = false;
  std::vector<std::string> lost_;  // the properties of the old file that the output could not get
  std::uint64_t written_ = 0;      // bytes
  std::uint64_t flushed_ = 0;      // bytes whose write to disk was started
};

// Terminals ---------------------------------------------------------------------------------------

// Keeps binary plaintext off a terminal: passes text on to `sink`. UsageError if a piece is not text; none of
// that piece is passed on.
class TextSink : public SinkWrapper {
 public:
  using SinkWrapper::SinkWrapper;

  void write(std::span<const std::byte> bytes) override {
    if (!std::ranges::all_of(as_text(bytes), [this](char c) { return check_.take(c); }))
      throw UsageError("refusing to write binary plaintext to a terminal", Advice::redirect_output);
    inner_.write(bytes);
  }

 private:
  TerminalTextCheck check_;
};

}  // namespace

std::unique_ptr<Sink> open_sink(const OutputTarget& target, const SinkRules& rules, Cancel& cancel) {
  using Terminal = SinkRules::Terminal;
  if (target.error) throw IoError(*target.error);
  if (rules.temp.if_exists == TempFile::IfExists::refuse && target.status) throw file_exists(target.name);
  if (!is_written_in_place(target)) {
    if (!target.path.has_filename()) throw io_error("cannot open", target.name, EISDIR);
    return std::make_unique<OutputFile>(target, rules, cancel);
  }
  Fd fd = open_in_place(target, cancel);
  const Terminal wanted = isatty(fd.get()) != 0 ? rules.terminal : Terminal::everything;
  if (wanted == Terminal::nothing)
    throw UsageError("refusing to write ciphertext to a terminal", Advice::redirect_output);
  auto sink = std::make_unique<FdSink>(std::move(fd), target.name, cancel);
  if (wanted == Terminal::text) return std::make_unique<TextSink>(std::move(sink));
  return sink;
}

}  // namespace gpuaes
