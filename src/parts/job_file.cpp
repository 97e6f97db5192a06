#include "parts/job_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/header_reader.hpp"
#include "format/parts/directory.hpp"
#include "format/sealed.hpp"
#include "keys/kdf.hpp"
#include "secrets/secret_file.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view magic = "gpuaes-parts/", version = "1\n";
constexpr std::size_t key_at = magic.size() + version.size();
constexpr std::size_t label_at = key_at + file_key_bytes;

// More than any job file has.
constexpr std::size_t max_job_bytes = 128 << 10;

std::array<std::byte, mac_bytes> job_mac(const Secret& file_key, std::span<const std::byte> message) {
  return make_mac(file_key, "gpuaes-parts/1 job", message);
}

[[noreturn]] void refuse_damaged(const std::string& name) {
  throw AuthError(fmt::format("the job file {} is damaged", name),
                  "parts that were sealed with it can be joined only with an undamaged copy");
}

void check_magic(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view text = as_text(bytes.first(std::min(bytes.size(), key_at)));
  const bool has_magic = text.size() == key_at && text.starts_with(magic);
  if (has_magic && text.ends_with(version)) return;
  if (has_magic && is_other_version(text.substr(magic.size())))
    throw VersionError(fmt::format("the job file {} has a version other than 1", name));
  throw AuthError(fmt::format("{} is not a job file", name), "gpuaes-parts plan writes one");
}

// Takes bytes from the beginning of `rest`.
std::span<const std::byte> take(std::span<const std::byte>& rest, std::size_t size, const std::string& name) {
  if (rest.size() < size) refuse_damaged(name);
  const std::span<const std::byte> taken = rest.first(size);
  rest = rest.subspan(size);
  return taken;
}

}  // namespace

Secret encode(const JobFile& job) {
  std::vector<std::byte> fields;
  const auto put_number = [&fields](std::uint64_t number, std::size_t size) {
    fields.resize(fields.size() + size);
    store_big_endian(number, std::span(fields).last(size));
  };
  const auto put_text = [&](std::string_view text, std::size_t size_bytes) {
    put_number(text.size(), size_bytes);
    append(fields, bytes_of(text));
  };
  put_text(job.secret.label.value_or(""), 1);
  put_number(job.header.size(), 2);
  append(fields, job.header);
  put_number(job.count, 4);
  const PlannedInput input = job.input.value_or(PlannedInput{});
  put_text(input.name, 2);
  put_number(input.is_device ? 1 : 0, 1);
  put_number(input.size, 8);
  for (const FileTime& time : {input.modified, input.changed}) {
    put_number(static_cast<std::uint64_t>(time.seconds), 8);
    put_number(time.nanoseconds, 4);
  }
  Secret bytes(label_at + fields.size() + mac_bytes);
  const std::span<std::byte> all = bytes.bytes();
  std::ranges::copy(bytes_of(magic), all.begin());
  std::ranges::copy(bytes_of(version), all.begin() + magic.size());
  std::ranges::copy(job.secret.file_key.bytes(), all.begin() + key_at);
  std::ranges::copy(fields, all.begin() + label_at);
  std::ranges::copy(job_mac(job.secret.file_key, all.first(all.size() - mac_bytes)),
                    all.last(mac_bytes).begin());
  return bytes;
}

JobFile decode_job(std::span<const std::byte> bytes, const std::string& name) {
  check_magic(bytes, name);
  if (bytes.size() < label_at + mac_bytes) refuse_damaged(name);
  Secret file_key(file_key_bytes);
  std::ranges::copy(bytes.subspan(key_at, file_key_bytes), file_key.bytes().begin());
  const auto authentic = bytes.first(bytes.size() - mac_bytes);
  if (!is_equal(job_mac(file_key, authentic), bytes.last(mac_bytes))) refuse_damaged(name);
  std::span<const std::byte> rest = authentic.subspan(label_at);
  const auto number = [&](std::size_t size) { return load_big_endian(take(rest, size, name)); };
  const auto time = [&] {
    const auto seconds = static_cast<std::int64_t>(number(8));
    return FileTime{seconds, static_cast<std::uint32_t>(number(4))};
  };
  const std::string label(as_text(take(rest, number(1), name)));
  const auto header_bytes = take(rest, number(2), name);
  const auto count = static_cast<std::uint32_t>(number(4));
  PlannedInput input{.name = std::string(as_text(take(rest, number(2), name)))};
  input.is_device = number(1) == 1;
  input.size = number(8);
  input.modified = time();
  input.changed = time();
  HeaderReader reader = reader_of(header_bytes);
  SealedHeader header = read_sealed_header(reader);
  if (!rest.empty() || header.bytes.size() != header_bytes.size() || !header.suite.in_parts ||
      count > max_parts)
    refuse_damaged(name);
  FrameSecret secret = make_frame_secret(header.suite.cipher, file_key, header.bytes,
                                         label.empty() ? std::nullopt : std::optional(label));
  return {std::move(header.bytes), std::move(secret), count,
          input.name.empty() ? std::nullopt : std::optional(std::move(input))};
}

std::optional<JobFile> read_job(const Directory& directory, const Context& context) {
  std::optional<FdSource> file = directory.open(job_name, context.cancel);
  if (!file) return std::nullopt;
  warn_if_readable({.name = file->name()}, *file, context.messages);
  const Secret contents = read_up_to(max_job_bytes, *file);
  return decode_job(contents.bytes(), file->name());
}

// The input of a plan --------------------------------------------------------------------------------

namespace {

using namespace std::chrono_literals;

constexpr char new_plan_hint[] = "make a new plan, for a snapshot or a file that is not being written";

constexpr std::uint64_t settled_seconds = 2;  // FAT stores times in units of 2 seconds
constexpr auto patience = 10s;                // for a file that is being modified
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
  std::string absolute = fmt::format("{}/{}", folder.get(), name);
  if (absolute.size() >= PATH_MAX) throw io_error("cannot record the absolute name of", name, ENAMETOOLONG);
  return absolute;
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

// Whether two times differ by more than a file system or a program that copies files may round them.
bool is_far(const FileTime& a, const FileTime& b) {
  const auto [early, late] = std::minmax(a.seconds, b.seconds);
  return static_cast<std::uint64_t>(late) - static_cast<std::uint64_t>(early) > settled_seconds;
}

[[noreturn]] void refuse_changed(const std::string& name, const char* what, const char* hint) {
  throw IoError(fmt::format("{} has changed since the plan was made: its {} differs", name, what), hint);
}

[[noreturn]] void refuse_rounded(const std::string& name, bool other_name, const FileTime& planned,
                                 const FileTime& now) {
  const double seconds = static_cast<double>(now.seconds - planned.seconds) +
                         (static_cast<double>(now.nanoseconds) - planned.nanoseconds) / 1e9;
  throw IoError(
      fmt::format("the modification time of {} differs from the one in the plan by only {:.9f} seconds", name,
                  std::abs(seconds)),
      other_name ? "if it is a copy with rounded times, set the time of the input to a whole minute with "
                   "touch -t, and make a new plan"
                 : "if its file system rounds times, set its time to a whole minute with touch -t, and make "
                   "a new plan");
}

}  // namespace

FdSource open_planned(const NamedFile& file, Cancel& cancel) {
  return file.in_context([&] {
    const std::optional<struct stat> status = file.status();
    if (status && !S_ISREG(status->st_mode) && !S_ISBLK(status->st_mode))
      throw UsageError(
          fmt::format("{} is not a regular file or block device, and cannot be cut into parts", file.name),
          "omit the input; each seal then reads its own");
    return file.open_unnamed(cancel);
  });
}

PlannedInput plan_input(const FdSource& file, const Directory& directory, const std::string& probe,
                        Cancel& cancel) {
  while (fsync(file.descriptor()) != 0 && errno == EINTR) cancel.check();
  const auto give_up = std::chrono::steady_clock::now() + patience;
  for (;;) {
    PlannedInput input = describe(file);
    const std::string shown = directory.name_of(probe);
    if (utimensat(directory.descriptor(), probe.c_str(), nullptr, 0) != 0)
      throw io_error("cannot set the time of", shown, errno);
    const struct statx now = status_now(directory.descriptor(), probe.c_str(), 0, shown);
    // Unless the clocks differ, a time in the future is not one that the next modification could have.
    if (input.is_device || is_far(input.modified, to_time(now.stx_mtime))) {
      input.name = absolute_name(file.name());
      return input;
    }
    if (std::chrono::steady_clock::now() > give_up)
      throw IoError(fmt::format("{} is being modified", file.name()),
                    "encrypt a snapshot, or a file that is not being written");
    cancel.check();
    std::this_thread::sleep_for(pause);
  }
}

void refuse_kind(const std::string& name) {
  refuse_changed(name, "type", new_plan_hint);
}

void check_planned(const PlannedInput& planned, const FdSource& file, bool other_name) {
  const PlannedInput now = describe(file);
  if (now.is_device != planned.is_device) refuse_kind(file.name());
  if (now.size != planned.size) refuse_changed(file.name(), "size", new_plan_hint);
  if (now.modified != planned.modified && !is_far(now.modified, planned.modified))
    refuse_rounded(file.name(), other_name, planned.modified, now.modified);
  if (now.modified != planned.modified)
    refuse_changed(
        file.name(), "modification time",
        "if it is a copy, set its time to that of the original with touch -r, and name it with -i; "
        "otherwise, make a new plan");
  if (!other_name && now.changed != planned.changed)
    refuse_changed(file.name(), "change time",
                   "if it is a copy, or only its mode, owner or links have changed, name it with -i; "
                   "otherwise, make a new plan");
}

}  // namespace gpuaes
