#include "system/tuning.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "base/error.hpp"
#include "base/texts.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_bytes = 512;  // of a file
constexpr unsigned max_threads = 1024, warp_threads = 32;
constexpr unsigned max_blocks_per_thread = 65536;
constexpr unsigned max_streams = 64;

// Text ----------------------------------------------------------------------------------------------

// Versions before and after this one keep to the first line, so that each knows what is not its own.
constexpr std::string_view first_words = "gpuaes-stream ";

std::string to_text(const std::string& model, const Tuning& tuning) {
  return fmt::format("{}{}\ndevice {}\nthreads {}\nblocks-per-thread {}\nstreams {}\n", first_words,
                     GPUAES_VERSION, model, tuning.threads, tuning.blocks_per_thread, tuning.streams);
}

bool in_range(const Tuning& tuning) {
  return tuning.threads % warp_threads == 0 && tuning.threads <= max_threads &&
         tuning.blocks_per_thread <= max_blocks_per_thread && tuning.streams <= max_streams;
}

// The line that `text` begins with, taken off it; none where it does not end.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == text.npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

// What stands behind the last blank of the next line; 0 where that is no number, which to_text() shows.
unsigned take_number(std::string_view& text) {
  const std::string_view line = take_line(text).value_or("");
  unsigned number = 0;
  std::from_chars(line.data() + (line.rfind(' ') + 1), line.data() + line.size(), number);
  return number;
}

enum class Verdict { good, foreign, damaged };

// A good file is, byte for byte, what write_tuning() makes of the numbers in it.
Verdict parse(std::string_view text, const std::string& model, Tuning& tuning) {
  std::string_view rest = text;
  const std::optional<std::string_view> version = take_line(rest);
  if (!version || !version->starts_with(first_words)) return Verdict::damaged;
  if (version->substr(first_words.size()) != GPUAES_VERSION) return Verdict::foreign;
  const std::optional<std::string_view> device = take_line(rest);
  if (!device || !device->starts_with("device ")) return Verdict::damaged;
  if (device->substr(device->find(' ') + 1) != model) return Verdict::foreign;
  tuning.threads = take_number(rest);
  tuning.blocks_per_thread = take_number(rest);
  tuning.streams = take_number(rest);
  const bool good = in_range(tuning) && text.size() <= max_bytes && text == to_text(model, tuning);
  return good ? Verdict::good : Verdict::damaged;
}

// Files ---------------------------------------------------------------------------------------------

// The beginning of a file, one byte more than a good one can have; or why it cannot be read.
struct Contents {
  std::string text;
  std::string trouble;
};

Contents read_beginning(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);  // a FIFO would wait
  if (fd < 0) return {.trouble = strerror(errno)};
  Contents contents{.text = std::string(max_bytes + 1, '\0')};
  struct stat status {};
  ssize_t size = 0;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
    contents.trouble = text::no_regular_file;
  else if ((size = read(fd, contents.text.data(), contents.text.size())) < 0)
    contents.trouble = strerror(errno);
  contents.text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  close(fd);
  return contents;
}

// As mkdir(1) does with -p, for the user alone, as the XDG Base Directory specification has it. Where it
// fails, making the file does too, and says so.
void make_directories(const fs::path& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno != ENOENT || !path.has_relative_path()) return;
  make_directories(path.parent_path());
  mkdir(path.c_str(), 0700);
}

// 0, or an errno. A tuning file that a crash left empty would be one that is warned of: hence fsync().
int fill_and_close(int fd, const std::string& text) {
  const ssize_t written = write(fd, text.data(), text.size());
  int error = written < 0 ? errno : static_cast<std::size_t>(written) < text.size() ? ENOSPC : 0;
  if (error == 0 && fsync(fd) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  return error;
}

// Empty where the driver does not tell.
std::string model_in(const std::string& information) {
  const std::string text = contents_of(information);
  std::string_view rest = text;
  while (const std::optional<std::string_view> line = take_line(rest)) {
    constexpr std::string_view key = "Model:";
    if (!line->starts_with(key)) continue;
    const std::size_t begin = line->find_first_not_of(" \t", key.size());
    return begin == line->npos ? ""
                               : std::string(line->substr(begin, line->find_last_not_of(" \t") + 1 - begin));
  }
  return {};
}

}  // namespace

std::optional<std::string> nvidia_model(const std::string& root) {
  std::optional<std::string> model;
  std::error_code error;
  for (fs::directory_iterator gpu(root, error), end; !error && gpu != end; gpu.increment(error)) {
    const std::string found = model_in(gpu->path() / "information");
    if (found.empty() || (model && *model != found)) return std::nullopt;
    model = found;
  }
  return model;
}

std::optional<std::string> tuning_file(const std::string& model) {
  const auto folder_in = [](const char* variable) {
    const char* const value = getenv(variable);
    return fs::path(value != nullptr && *value == '/' ? value : "");
  };
  fs::path cache = folder_in("XDG_CACHE_HOME");
  if (const fs::path home = folder_in("HOME"); cache.empty() && !home.empty()) cache = home / ".cache";
  if (cache.empty()) return std::nullopt;
  std::string name = "tuning-" + model;
  for (char& c : name)
    if (!(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z')) c = '-';
  return (cache / "gpuaes-stream" / name).string();
}

std::optional<Tuning> read_tuning(const std::string& model,
                                  const std::function<void(const std::string&)>& warn) {
  const std::optional<std::string> path = tuning_file(model);
  struct stat status {};
  if (!path || (stat(path->c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR)))
    return std::nullopt;
  const Contents contents = read_beginning(*path);
  if (!contents.trouble.empty()) {
    warn(fmt::format(text::tuning_unreadable, *path, contents.trouble));
    return std::nullopt;
  }
  Tuning tuning;
  const Verdict verdict = parse(contents.text, model, tuning);
  if (verdict == Verdict::damaged) warn(fmt::format(text::tuning_damaged, *path));
  return verdict == Verdict::good ? std::optional(tuning) : std::nullopt;
}

void write_tuning(const std::string& model, const Tuning& tuning) {
  const std::string text = to_text(model, tuning);
  Tuning again;
  if (parse(text, model, again) != Verdict::good)
    throw std::logic_error("a tuning that read_tuning() would not take");
  const std::optional<std::string> path = tuning_file(model);
  if (!path) throw IoError(text::no_tuning_folder, text::no_tuning_folder_hint);
  make_directories(fs::path(*path).parent_path());
  std::string passing = *path + "-XXXXXX";
  const int fd = mkostemp(passing.data(), O_CLOEXEC);
  if (fd < 0) throw IoError(fmt::format(text::cannot_create_next_to, *path, strerror(errno)));
  int error = fill_and_close(fd, text);
  if (error == 0 && rename(passing.c_str(), path->c_str()) != 0) error = errno;
  if (error == 0) return;
  unlink(passing.c_str());
  throw IoError(fmt::format(text::cannot_write, *path, strerror(error)));
}

}  // namespace gpuaes
