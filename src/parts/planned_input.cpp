#include "parts/planned_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "base/error.hpp"

namespace gpuaes {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t settled_seconds = 2;  // FAT stores times in units of 2 seconds
constexpr auto patience = 10s;               // for a file that is being modified
constexpr auto pause = 100ms;

// The status now, from the server if the file is on a network file system.
struct statx status_now(int directory, const char* name, int flags, const std::string& shown) {
  struct statx status {};
  if (statx(directory, name, flags | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &status) != 0)
    throw io_error("cannot stat", shown, errno);
  return status;
}

FileTime to_time(const statx_timestamp& time) {
  return {time.tv_sec, time.tv_nsec};
}

// With the symbolic links in the path of the current directory.
std::string absolute_name(const std::string& name) {
  if (name.starts_with('/')) return name;
  const std::unique_ptr<char, void (*)(void*)> folder(get_current_dir_name(), std::free);
  if (!folder) throw io_error("cannot find the current directory for", name, errno);
  return fmt::format("{}/{}", folder.get(), name);
}

PlannedInput describe(const FdSource& file) {
  const struct statx now = status_now(file.descriptor(), "", AT_EMPTY_PATH, file.name());
  PlannedInput input{
      .name = file.name(), .is_device = S_ISBLK(now.stx_mode), .size = file.size().value_or(0)};
  if (input.is_device) return input;
  input.size = now.stx_size;
  input.modified = to_time(now.stx_mtime);
  input.changed = to_time(now.stx_ctime);
  return input;
}

// Unless the clocks differ, a time in the future is not one that the next modification could have.
bool is_settled(const FileTime& modified, const FileTime& now) {
  return modified.seconds + settled_seconds < now.seconds || now.seconds + settled_seconds < modified.seconds;
}

}  // namespace

FdSource open_planned(const std::string& name, Cancel& cancel) {
  struct stat status {};
  if (stat(name.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode))
    throw UsageError(
        fmt::format("{} is not a regular file or block device, and cannot be cut into parts", name),
        "omit -i; each seal then reads its own input");
  return open_source(name, cancel);
}

PlannedInput plan_input(const FdSource& file, const std::string& name, const Directory& directory,
                        const std::string& probe, Cancel& cancel) {
  while (fsync(file.descriptor()) != 0 && errno == EINTR) cancel.check();
  const std::string path = directory.path_of(probe);
  const auto give_up = std::chrono::steady_clock::now() + patience;
  for (;;) {
    PlannedInput input = describe(file);
    if (utimensat(AT_FDCWD, path.c_str(), nullptr, 0) != 0)
      throw io_error("cannot set the time of", directory.name_of(probe), errno);
    const struct statx now = status_now(AT_FDCWD, path.c_str(), 0, directory.name_of(probe));
    if (input.is_device || is_settled(input.modified, to_time(now.stx_mtime))) {
      input.name = absolute_name(name);
      return input;
    }
    if (std::chrono::steady_clock::now() > give_up)
      throw IoError(fmt::format("{} is being modified", file.name()),
                    "seal a snapshot, or a file that is not being written");
    cancel.check();
    std::this_thread::sleep_for(pause);
  }
}

void refuse_changed(const std::string& name) {
  throw IoError(fmt::format("{} has changed since the plan was made", name),
                "make a new plan, for a snapshot or a file that is not being written");
}

void check_planned(const PlannedInput& planned, const FdSource& file, bool other_name) {
  const PlannedInput now = describe(file);
  const bool same = now.is_device == planned.is_device && now.size == planned.size &&
                    now.modified == planned.modified && (other_name || now.changed == planned.changed);
  if (!same) refuse_changed(file.name());
}

}  // namespace gpuaes
