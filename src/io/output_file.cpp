#include "io/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  // as the kernel follows (path_resolution(7))

// The path behind all symbolic links of `name`, also where nothing is there yet.
fs::path follow_links(const std::string& name) {
  fs::path path = name;
  for (int links = 0; links < most_links; ++links) {
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    if (error) return path;
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  throw io_error("open", name, ELOOP);
}

// The one absolute path of what a sink for `name` would replace; empty where the system does not tell.
fs::path final_path(const std::string& name) {
  std::error_code error;
  const fs::path path = fs::absolute(follow_links(name), error);
  return error ? fs::path() : fs::weakly_canonical(path, error);
}

mode_t default_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// A file under a passing name in the directory of the final one; gone with its owner unless kept.
class PassingFile {
 public:
  PassingFile(const fs::path& final_path, const std::string& name) {
    const fs::path directory = final_path.has_parent_path() ? final_path.parent_path() : fs::path(".");
    path_ = (directory / ".gpuaes-XXXXXX").string();
    fd_ = mkostemp(path_.data(), O_CLOEXEC);
    if (fd_ < 0) throw io_error("create", name, errno);
  }
  PassingFile(PassingFile&& other) noexcept : path_(std::exchange(other.path_, {})), fd_(other.fd_) {}
  ~PassingFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  int fd() const { return fd_; }  // the sink's, which closes it

  // True when the file now stands under its final name.
  bool rename_to(const fs::path& final_path) {
    if (rename(path_.c_str(), final_path.c_str()) != 0) return false;
    path_.clear();
    return true;
  }

 private:
  std::string path_;
  int fd_ = -1;
};

class OutputFile : public Sink {
 public:
  OutputFile(fs::path path, const std::string& name, const struct stat* old, Cancel& cancel)
      : path_(std::move(path)),
        name_(name),
        cancel_(cancel),
        passing_(path_, name),
        sink_(Fd(passing_.fd()), name, cancel) {
    if (old != nullptr && fchown(passing_.fd(), old->st_uid, old->st_gid) != 0) {
      // Only root gives files away: then the file is ours from now on.
    }
    if (fchmod(passing_.fd(), old != nullptr ? old->st_mode & 07777 : default_mode()) != 0)
      throw io_error("set the mode of", name_, errno);
  }

  void write(std::span<const std::byte> bytes) override { sink_.write(bytes); }

  void finish() override {
    if (fsync(sink_.fd().get()) != 0) throw io_error("write", name_, errno);
    sink_.finish();
    cancel_.check();  // fsync() may have taken long, and is not interrupted
    if (!passing_.rename_to(path_)) throw io_error("rename the output to", name_, errno);
    sync_directory();
  }

 private:
  // So that the new name outlives a crash too. Some file systems cannot, which is no reason to fail.
  void sync_directory() const {
    const fs::path directory = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
    const Fd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() >= 0) fsync(fd.get());
  }

  fs::path path_;
  std::string name_;
  Cancel& cancel_;
  PassingFile passing_;
  FdSink sink_;
};

void refuse_in_use(const struct stat& output, const SinkRules& rules, const std::string& name) {
  for (const struct stat& input : rules.in_use)
    if (is_same_file(input, output))
      throw IoError(fmt::format("input and output are the same file: {}", name));
}

std::unique_ptr<Sink> sink_in_place(Fd fd, const std::string& name, const SinkRules& rules, Cancel& cancel) {
  if (!rules.allow_terminal && isatty(fd.get()) != 0)
    throw UsageError("ciphertext is not written to a terminal",
                     "redirect the output, or name a file with -o");
  return std::make_unique<FdSink>(std::move(fd), name, cancel);
}

}  // namespace

std::unique_ptr<Sink> open_sink(const std::optional<std::string>& name, const SinkRules& rules,
                                Cancel& cancel) {
  struct stat old {};
  if (!name) {
    if (fstat(STDOUT_FILENO, &old) == 0) refuse_in_use(old, rules, "standard output");
    return sink_in_place(Fd(STDOUT_FILENO), "standard output", rules, cancel);
  }
  const bool exists = stat(name->c_str(), &old) == 0;
  if (name->empty() || (!exists && errno != ENOENT)) throw io_error("open", *name, errno);
  if (exists) refuse_in_use(old, rules, *name);
  if (exists && !S_ISREG(old.st_mode))
    return sink_in_place(open_file(*name, O_WRONLY | O_NOCTTY, cancel), *name, rules, cancel);
  return std::make_unique<OutputFile>(follow_links(*name), *name, exists ? &old : nullptr, cancel);
}

bool is_same_output(const std::string& a, const std::string& b) {
  struct stat status {};
  if (stat(a.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return false;
  const fs::path path_a = final_path(a);
  return !path_a.empty() && path_a == final_path(b);
}

}  // namespace gpuaes
