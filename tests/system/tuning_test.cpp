// The tuning file: where it lies, what it may hold, and that nothing in its place does harm.
#include "system/tuning.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

const std::string model = "NVIDIA H200";
constexpr Tuning tuning{256, 32, 8};
const std::string good =
    "gpuaes-stream " GPUAES_VERSION "\ndevice NVIDIA H200\nthreads 256\nblocks-per-thread 32\nstreams 8\n";

// A variable of the environment, as it was before in the end.
class Variable {
 public:
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* const before = getenv(name)) before_ = before;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_); }
  void set(const std::optional<std::string>& value) {
    if (value)
      setenv(name_, value->c_str(), 1);
    else
      unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

// A cache of our own, and what read_tuning() says of the file in it.
struct Cache {
  TempDir dir;
  Variable variable{"XDG_CACHE_HOME", dir / ""};
  std::string file = *tuning_file(model);
  std::vector<std::string> warnings;

  std::optional<Tuning> read() {
    return read_tuning(model, [this](const std::string& text) { warnings.push_back(text); });
  }
  void hold(const std::string& text) {
    fs::create_directories(fs::path(file).parent_path());
    write_file(file, to_bytes(text));
  }
  // Not used, and warned of in one line that says where it is.
  bool is_warned_of() {
    warnings.clear();
    return !read() && warnings.size() == 1 && contains(warnings[0], file) &&
           contains(warnings[0], "was not used");
  }
  bool is_passed_over() {
    warnings.clear();
    return !read() && warnings.empty();
  }
};

// Root may do everything: while this lives it is nobody.
class Unprivileged {
 public:
  Unprivileged() {
    if (geteuid() == 0 && seteuid(65534) != 0) throw std::runtime_error("cannot become nobody");
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() {
    if (seteuid(getuid()) != 0) give_up("cannot become who we were");
  }
};

// No file can grow: what a full disk is to a program.
class NoRoom {
 public:
  NoRoom() {
    before_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit none{0, limit_.rlim_max};
    if (setrlimit(RLIMIT_FSIZE, &none) != 0) throw std::runtime_error("cannot limit the size of files");
  }
  NoRoom(const NoRoom&) = delete;
  NoRoom& operator=(const NoRoom&) = delete;
  ~NoRoom() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    signal(SIGXFSZ, before_);
  }

 private:
  rlimit limit_{};
  void (*before_)(int);
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

void make_gpu(const TempDir& root, const std::string& name, const std::string& information) {
  fs::create_directories(root.path() / name);
  write_file(root / (name + "/information"), to_bytes(information));
}

}  // namespace

TEST_CASE("what was written is read, and is text for people") {
  Cache cache;
  for (const Tuning& each :
       {tuning, Tuning{}, Tuning{32, 1, 1}, Tuning{1024, 65536, 64}, Tuning{0, 0, 3}, Tuning{96, 0, 0}}) {
    write_tuning(model, each);
    CHECK(cache.read() == each);
  }
  write_tuning(model, tuning);
  CHECK(difference(read_file(cache.file), to_bytes(good)).empty());
  CHECK(cache.warnings.empty());
  CHECK(std::distance(fs::directory_iterator(fs::path(cache.file).parent_path()), {}) == 1);
}

TEST_CASE("what could not be read again is not written") {
  Cache cache;
  for (const Tuning& each :
       {Tuning{33, 1, 1}, Tuning{1056, 1, 1}, Tuning{32, 65537, 1}, Tuning{32, 1, 65}, Tuning{1, 1, 1}})
    CHECK_THROWS_AS(write_tuning(model, each), std::logic_error);
  CHECK_THROWS_AS(write_tuning("NVIDIA\nH200", tuning), std::logic_error);
  CHECK_THROWS_AS(write_tuning(std::string(600, 'H'), tuning), std::logic_error);
  CHECK(cache.dir.count() == 0);
}

TEST_CASE("folders that are missing are made, for their owner alone") {
  const TempDir dir;
  const Variable variable("XDG_CACHE_HOME", dir / "some/where/");
  const mode_t before = umask(0);
  write_tuning(model, tuning);
  umask(before);
  for (const char* const made : {"some", "some/where", "some/where/gpuaes-stream"}) {
    struct stat status {};
    REQUIRE(stat((dir / made).c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0700);
  }
  CHECK(fs::exists(dir / "some/where/gpuaes-stream/tuning-NVIDIA-H200"));
}

TEST_CASE("the file lies in XDG_CACHE_HOME, else in ~/.cache, else nowhere") {
  Variable xdg("XDG_CACHE_HOME", "/x/cache");
  Variable home("HOME", "/home/somebody");
  CHECK(tuning_file(model) == "/x/cache/gpuaes-stream/tuning-NVIDIA-H200");
  for (const std::optional<std::string>& none :
       {std::optional<std::string>(), {""}, {"cache"}, {"./cache"}}) {
    xdg.set(none);
    CHECK(tuning_file(model) == "/home/somebody/.cache/gpuaes-stream/tuning-NVIDIA-H200");
  }
  for (const std::optional<std::string>& none : {std::optional<std::string>(), {""}, {"home"}}) {
    home.set(none);
    CHECK_FALSE(tuning_file(model).has_value());
    CHECK_FALSE(read_tuning(model, [](const std::string&) { FAIL("a warning"); }).has_value());
    const auto error = error_of<IoError>([] { write_tuning(model, tuning); });
    REQUIRE(error.has_value());
    CHECK(contains(error->hint(), "XDG_CACHE_HOME"));
  }
}

TEST_CASE("no model leads out of the folder") {
  const Variable xdg("XDG_CACHE_HOME", "/x");
  CHECK(tuning_file("../../etc/passwd") == "/x/gpuaes-stream/tuning-------etc-passwd");
}

TEST_CASE("without a tuning file nothing is said") {
  Cache cache;
  CHECK(cache.is_passed_over());
  cache.hold(good);
  CHECK(cache.read() == tuning);
  fs::remove(cache.file);
  CHECK(cache.is_passed_over());
  fs::create_symlink("nowhere", cache.file);
  CHECK(cache.is_passed_over());
  write_file(cache.dir / "file", {});
  cache.variable.set(cache.dir / "file");
  CHECK(cache.is_passed_over());
}

TEST_CASE("a file of another device or version is passed over, whatever else is in it") {
  Cache cache;
  const std::string version = "gpuaes-stream " GPUAES_VERSION "\n";
  for (const std::string& text :
       {replaced(good, "H200", "H100"), replaced(good, "H200", "H20"), replaced(good, "H200", "H200 NVL"),
        replaced(good, version, "gpuaes-stream 99.0.0\n"), std::string("gpuaes-stream 99.0.0\nnew things\n"),
        "gpuaes-stream 99.0.0\n" + std::string(1 << 20, 'x'), version + "device other\nold things\n"}) {
    CAPTURE(text.substr(0, 200));
    cache.hold(text);
    CHECK(cache.is_passed_over());
  }
}

TEST_CASE("a damaged file is warned of and not used") {
  Cache cache;
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    cache.hold(good.substr(0, size));
    CHECK(cache.is_warned_of());
  }
  CHECK(contains(cache.warnings.at(0), "gpuaes-bench sweep"));

  for (const std::string number : {"-256", "+256", "0x100", "0256", "256 ", "256.0", "many", "", "33", "1",
                                   "1056", "256 256", "18446744073709551872", "4294967552", "256\r"}) {
    CAPTURE(number);
    cache.hold(replaced(good, "threads 256", "threads " + number));
    CHECK(cache.is_warned_of());
  }
  for (const std::string& text : {replaced(good, "streams 8", "streams 65"),
                                  replaced(good, "thread 32", "thread 65537"),
                                  replaced(good, "streams 8", "streams eight"),
                                  replaced(good, "streams", "rivers"),
                                  replaced(good, "threads 256", "threads256"),
                                  replaced(good, "device ", "device"),
                                  good + "streams 8\n",
                                  good + "streams 9\n",
                                  good + "\n",
                                  "\n" + good,
                                  good + "colour blue\n",
                                  replaced(good, "streams 8", "threads 256"),
                                  replaced(good, "threads 256\n", ""),
                                  replaced(good, "threads 256\n", "threads 256\nthreads 256\n"),
                                  good + good,
                                  std::string(1, '\0') + good,
                                  good + std::string(1, '\0'),
                                  std::string(1 << 20, 'x'),
                                  std::string(1 << 20, '\n'),
                                  std::string(1 << 20, '\0'),
                                  good + std::string(1 << 20, ' ')}) {
    CAPTURE(text.substr(0, 200));
    cache.hold(text);
    CHECK(cache.is_warned_of());
  }
  cache.hold(good);
  CHECK(cache.read() == tuning);
}

TEST_CASE("what is no regular file is warned of, and never waited for") {
  Cache cache;
  fs::create_directories(cache.file);
  CHECK(cache.is_warned_of());
  fs::remove(cache.file);
  REQUIRE(mkfifo(cache.file.c_str(), 0600) == 0);
  CHECK(result_of(in_thread([&] { return cache.is_warned_of(); })));
  fs::remove(cache.file);
  fs::create_symlink("/dev/zero", cache.file);
  CHECK(cache.is_warned_of());
  fs::remove(cache.file);
  fs::create_symlink(cache.file, cache.file);
  CHECK(cache.is_warned_of());
}

TEST_CASE("a file that may not be read is warned of, and written anew only where that is allowed",
          "[optional]") {
  Cache cache;
  cache.hold(good);
  fs::permissions(cache.dir.path(), fs::perms(0755));
  fs::permissions(cache.file, fs::perms::none);
  {
    const Unprivileged nobody;
    struct stat status {};
    if (stat(cache.file.c_str(), &status) != 0)
      return skip("an unprivileged user cannot reach " + cache.dir.path().string());
    CHECK(cache.is_warned_of());
  }
  fs::permissions(cache.file, fs::perms(0600));
  const fs::path folder = fs::path(cache.file).parent_path();
  fs::permissions(folder, fs::perms(0555));
  {
    const Unprivileged nobody;
    CHECK(contains(failure_of([] { write_tuning(model, Tuning{}); }), "io: cannot create a file next to"));
  }
  fs::permissions(folder, fs::perms(0700));
  CHECK(cache.read() == tuning);
}

TEST_CASE("a file that cannot be written is an error, and the old one stays") {
  Cache cache;
  write_tuning(model, tuning);
  const fs::path folder = fs::path(cache.file).parent_path();
  {
    const NoRoom no_room;
    CHECK(contains(failure_of([] { write_tuning(model, Tuning{}); }), "io: cannot write " + cache.file));
  }
  CHECK(cache.read() == tuning);
  CHECK(std::distance(fs::directory_iterator(folder), {}) == 1);

  fs::remove(cache.file);
  fs::create_directories(cache.file);
  CHECK(contains(failure_of([] { write_tuning(model, tuning); }), "io: cannot write"));
  CHECK(std::distance(fs::directory_iterator(folder), {}) == 1);

  write_file(cache.dir / "file", {});
  for (const std::string& place : {cache.dir / "file", cache.dir / "file/below", std::string("/proc/none")}) {
    cache.variable.set(place);
    CHECK(contains(failure_of([] { write_tuning(model, tuning); }), "io: cannot create a file next to"));
  }
}

TEST_CASE("the driver tells the model, where all devices are of one") {
  const TempDir root;
  CHECK_FALSE(nvidia_model(root / "").has_value());
  CHECK_FALSE(nvidia_model(root / "none").has_value());
  const std::string h200 = "Model: \t\t NVIDIA H200\nIRQ:   \t\t 25\nGPU UUID: \t GPU-1\n";
  make_gpu(root, "0000:18:00.0", h200);
  CHECK(nvidia_model(root / "") == model);
  make_gpu(root, "0000:2a:00.0", h200);
  CHECK(nvidia_model(root / "") == model);
  for (const std::string other : {"Model: \t\t NVIDIA H100\n", "Model:\n", "Model: \t \n", "", "IRQ: 1\n",
                                  "no Model: NVIDIA H200\n", "Model: NVIDIA H200"}) {
    CAPTURE(other);
    make_gpu(root, "0000:3a:00.0", other);
    CHECK_FALSE(nvidia_model(root / "").has_value());
  }
  fs::remove(root / "0000:3a:00.0/information");
  CHECK_FALSE(nvidia_model(root / "").has_value());
  fs::create_directories(root / "0000:3a:00.0/information");
  CHECK_FALSE(nvidia_model(root / "").has_value());
  make_gpu(root, "0000:4a:00.0", h200);
  fs::remove_all(root / "0000:3a:00.0");
  CHECK(nvidia_model(root / "") == model);
  make_gpu(root, "0000:4a:00.0", "IRQ: 1\nModel:NVIDIA H200 \n");
  CHECK(nvidia_model(root / "") == model);
}

}  // namespace gpuaes
