// What the tests share: bytes with a pattern, libcrypto as the judge, the two ends of a pipeline in memory,
// and lanes that misbehave on cue.
#pragma once

#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cipher/ciphers.hpp"
#include "io/cancel.hpp"
#include "io/source_sink.hpp"
#include "lane/lane.hpp"
#include "support/aes_reference.hpp"

namespace gpuaes {

// Bytes -------------------------------------------------------------------------------------------

// Of a stream whose byte i is i mod 251: no power of two divides the period, so that a block which went
// astray shows.
inline Bytes test_bytes(std::size_t size, std::size_t from = 0) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((from + i) % 251);
  return bytes;
}

inline Bytes to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Empty when both are equal; otherwise where they first are not. A failed check that printed megabytes helps
// nobody.
inline std::string difference(std::span<const std::byte> got, std::span<const std::byte> expected) {
  const auto [at, other] = std::ranges::mismatch(got, expected);
  if (at == got.end() && other == expected.end()) return {};
  return "differ at byte " + std::to_string(at - got.begin()) + ", sizes " + std::to_string(got.size()) +
         " and " + std::to_string(expected.size());
}

inline CipherKey make_key(std::span<const std::byte> bytes, Cipher cipher) {
  CipherKey key{cipher, Secret(bytes.size())};
  std::ranges::copy(bytes, key.bytes.bytes().begin());
  return key;
}

// That the length of a key says.
inline Cipher cipher_of(std::size_t key_bytes) {
  for (const CipherInfo& each : ciphers)
    if (each.key_bytes == key_bytes) return each.cipher;
  throw std::logic_error("no cipher has such a key");
}
inline CipherKey make_key(std::span<const std::byte> bytes) {
  return make_key(bytes, cipher_of(bytes.size()));
}

// CTR mode by libcrypto, called directly and in one piece.
inline Bytes libcrypto_ctr(std::span<const std::byte> key, const CounterBlock& counter,
                           std::span<const std::byte> in) {
  const EVP_CIPHER* const cipher = key.size() == 16   ? EVP_aes_128_ctr()
                                   : key.size() == 24 ? EVP_aes_192_ctr()
                                                      : EVP_aes_256_ctr();
  const std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)> context(EVP_CIPHER_CTX_new(),
                                                                           EVP_CIPHER_CTX_free);
  Bytes out(in.size());
  int size = 0;
  if (EVP_EncryptInit_ex2(context.get(), cipher, reinterpret_cast<const unsigned char*>(key.data()),
                          counter.data(), nullptr) != 1 ||
      EVP_EncryptUpdate(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size,
                        reinterpret_cast<const unsigned char*>(in.data()), static_cast<int>(in.size())) != 1)
    throw std::logic_error("libcrypto failed");
  return out;
}

// Keys of jobs have to outlive every lane, which know them by their addresses: so these are never given up.
inline const CipherKey& lasting_key(const Bytes& bytes, Cipher cipher) {
  static std::deque<CipherKey> keys;
  const auto found = std::ranges::find_if(keys, [&](const CipherKey& key) {
    return key.cipher == cipher && std::ranges::equal(key.bytes.bytes(), bytes);
  });
  return found != keys.end() ? *found : keys.emplace_back(make_key(bytes, cipher));
}
inline const CipherKey& lasting_key(const Bytes& bytes) {
  return lasting_key(bytes, cipher_of(bytes.size()));
}

// Errors ------------------------------------------------------------------------------------------

// The error of type E that `call` throws; none where it returns. Other types go through.
template <class E, class Call>
std::optional<E> error_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const E& error) {
    return error;
  }
  return std::nullopt;
}

// "io: message", with the exit status in words, of what `call` throws; "cancelled: 15"; "" where it returns.
template <class Call>
std::string failure_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const LaneError& error) {
    return std::string("lane: ") + error.what();
  } catch (const PipeClosed& error) {
    return std::string("pipe closed: ") + error.what();
  } catch (const IoError& error) {
    return std::string("io: ") + error.what();
  } catch (const UsageError& error) {
    return std::string("usage: ") + error.what();
  } catch (const KeyError& error) {
    return std::string("key: ") + error.what();
  } catch (const AuthError& error) {
    return std::string("auth: ") + error.what();
  } catch (const Cancelled& cancelled) {
    return "cancelled: " + std::to_string(cancelled.signal);
  }
  return {};
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

// What tells of a broken test or program from any thread, where an exception might not be seen.
[[noreturn]] inline void give_up(const std::string& what) {
  std::fputs((what + "\n").c_str(), stderr);
  std::abort();
}

// Time --------------------------------------------------------------------------------------------

// Long enough that what can happen does; a wait this long that should end sooner is a failure.
constexpr std::chrono::milliseconds a_while{40};
constexpr std::chrono::seconds promptly{5};

template <class T>
bool is_waiting(const std::future<T>& future) {
  return future.wait_for(a_while) == std::future_status::timeout;
}

// The result of what must come promptly. A thread that hangs cannot be ended, and std::future would wait for
// it: so the whole test program ends.
template <class T>
T result_of(std::future<T> future) {
  if (future.wait_for(promptly) == std::future_status::ready) return future.get();
  give_up("a thread hangs");
}

// Waits until `holds()`; false when it does not come to be.
template <class Condition>
bool comes_true(Condition holds) {
  const auto end = std::chrono::steady_clock::now() + promptly;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

template <class Call>
auto in_thread(Call call) {
  return std::async(std::launch::async, std::move(call));
}

// While it lives no thread can be made: its stack would be larger than the address space.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_t none;
    if (pthread_getattr_default_np(&before_) != 0 || pthread_getattr_default_np(&none) != 0 ||
        pthread_attr_setstacksize(&none, std::size_t{1} << 47) != 0 || pthread_setattr_default_np(&none) != 0)
      throw std::logic_error("cannot set the size of stacks");
    pthread_attr_destroy(&none);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

// What only one thread may be in at a time.
class OneAtATime {
 public:
  explicit OneAtATime(std::string name) : name_(std::move(name)) {}

  class Inside {
   public:
    explicit Inside(OneAtATime& place) : place_(place) {
      if (place_.taken_.exchange(true)) give_up("two threads at once: " + place_.name_);
    }
    ~Inside() { place_.taken_ = false; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    OneAtATime& place_;
  };

 private:
  std::string name_;
  std::atomic<bool> taken_ = false;
};

// Random pauses, the same for the same seed up to the order of threads. Any thread may pause.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed = 0, std::chrono::microseconds most = {}) : state_(seed), most_(most) {}

  std::uint64_t random() const {  // splitmix64
    std::uint64_t z = state_.fetch_add(0x9e3779b97f4a7c15) + 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

  // Half of the pauses only give way: many short ones mix threads as well as few long ones.
  void pause() const {
    if (most_.count() == 0) return;
    const std::uint64_t number = random();
    if (number % 2 == 0) return std::this_thread::yield();
    std::this_thread::sleep_for(
        std::chrono::microseconds(number / 2 % static_cast<std::uint64_t>(most_.count())));
  }

 private:
  mutable std::atomic<std::uint64_t> state_;
  std::chrono::microseconds most_;
};

// The ends ----------------------------------------------------------------------------------------

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

// How a source behaves.
struct SourceScript {
  std::size_t read_size = std::numeric_limits<std::size_t>::max();  // the most that one read gives
  std::uint64_t shared = 0;                                         // what lanes may read themselves
  std::uint64_t fail_at = never;   // bytes from this offset on cannot be read
  std::uint64_t stall_at = never;  // nothing comes from this offset on, until stopped
  bool sometimes_late = false;     // ready() says no now and then, so that chunks go out part-filled
};

class MemorySource : public Source {
 public:
  MemorySource(Bytes bytes, SourceScript script, Cancel& cancel, const Jitter& jitter)
      : bytes_(std::move(bytes)), script_(script), cancel_(cancel), jitter_(jitter) {}

  std::size_t read(std::span<std::byte> out) override {
    const OneAtATime::Inside inside(turn_);
    jitter_.pause();
    if (position_ >= script_.fail_at) throw error(position_);
    while (position_ >= script_.stall_at) {
      stalled_ = true;
      cancel_.check();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const std::uint64_t end = std::min<std::uint64_t>({bytes_.size(), script_.fail_at, script_.stall_at});
    const std::size_t count = std::min<std::size_t>({out.size(), script_.read_size, end - position_});
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(position_), count, out.begin());
    position_ += count;
    return count;
  }

  bool ready(std::chrono::milliseconds patience) override {
    const OneAtATime::Inside inside(turn_);
    if (script_.sometimes_late && jitter_.random() % 4 == 0) return false;
    if (position_ < script_.stall_at) return true;
    std::this_thread::sleep_for(patience);
    return false;
  }

  std::uint64_t shared_size() const override { return script_.shared; }

  void read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    jitter_.pause();
    {
      const std::lock_guard lock(mutex_);
      offsets_read_.push_back(offset);
    }
    if (offset + out.size() > script_.fail_at) throw error(script_.fail_at);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  }

  void skip_to(std::uint64_t offset) override {
    const OneAtATime::Inside inside(turn_);
    position_ = offset;
  }

  // How often a lane read what begins at `offset`. From any thread.
  std::size_t read_times(std::uint64_t offset) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count(offsets_read_, offset));
  }

  // Whether somebody waits in read() for what does not come. From any thread.
  bool stalled() const { return stalled_; }

 private:
  static IoError error(std::uint64_t at) { return IoError("the source fails at byte " + std::to_string(at)); }

  Bytes bytes_;
  SourceScript script_;
  Cancel& cancel_;
  const Jitter& jitter_;
  OneAtATime turn_{"the source"};
  std::uint64_t position_ = 0;
  std::atomic<bool> stalled_ = false;
  mutable std::mutex mutex_;
  mutable std::vector<std::uint64_t> offsets_read_;  // by read_at(), in no order
};

// How a sink behaves.
struct SinkScript {
  std::uint64_t fail_at = never;  // takes the bytes before this offset, and fails with the first one behind
  std::uint64_t wait_at = never;  // takes no write that begins at this offset or behind it, until stopped
};

class MemorySink : public Sink {
 public:
  MemorySink(SinkScript script, Cancel& cancel, const Jitter& jitter)
      : script_(script), cancel_(cancel), jitter_(jitter) {}

  void write(std::span<const std::byte> bytes) override {
    const OneAtATime::Inside inside(turn_);
    jitter_.pause();
    while (bytes_.size() >= script_.wait_at) {
      waits_ = true;
      cancel_.check();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const std::size_t count = std::min<std::size_t>(bytes.size(), script_.fail_at - bytes_.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    size_ = bytes_.size();
    if (count < bytes.size()) throw IoError("the sink fails at byte " + std::to_string(script_.fail_at));
  }
  void finish() override {}

  const Bytes& bytes() const { return bytes_; }
  std::size_t size() const { return size_; }  // from any thread
  bool waits() const { return waits_; }       // whether somebody waits in write(); from any thread

 private:
  OneAtATime turn_{"the sink"};
  Bytes bytes_;
  std::atomic<std::size_t> size_ = 0;
  std::atomic<bool> waits_ = false;
  SinkScript script_;
  Cancel& cancel_;
  const Jitter& jitter_;
};

// Lanes -------------------------------------------------------------------------------------------

// How a lane behaves. The hooks get the number of the job, counted from 0 for each lane, in the lane's
// thread: they may wait, and they may throw LaneError.
struct LaneScript {
  std::size_t depth = 1;
  bool copies = false;
  std::function<void(std::uint64_t)> on_start;
  std::function<void(std::uint64_t)> on_finish;
};

inline std::function<void(std::uint64_t)> fail_at_job(std::uint64_t number) {
  return [number](std::uint64_t job) {
    if (job == number) throw LaneError("the lane fails at job " + std::to_string(job));
  };
}

// Does a job when it finishes it, as a device does. Until it is destroyed it writes into the jobs that it
// started, as a device would whose copies come late: whoever gives such a job away too early has its output
// spoilt, and whoever does it again without another look at the input has that spoilt where it had been in
// the same place.
class ScriptedLane : public Lane {
 public:
  ScriptedLane(std::unique_ptr<Lane> inner, LaneScript script, const Jitter& jitter)
      : inner_(std::move(inner)), script_(std::move(script)), jitter_(jitter) {}

  ~ScriptedLane() override {
    jitter_.pause();
    for (const Job& job : under_way_) std::ranges::fill(job.out, std::byte{0xee});
  }

  std::string name() const override { return "scripted"; }
  std::size_t depth() const override { return script_.depth; }
  bool copies() const override { return script_.copies; }

  void start(const Job& job) override {
    jitter_.pause();
    if (job.in.data() == job.out.data() && job.in.size() != job.out.size() && !script_.copies)
      throw std::logic_error("an output in the place of an input of another length");
    if (under_way_.size() == script_.depth) throw std::logic_error("more jobs than the lane's depth");
    under_way_.push_back(job);
    if (script_.on_start) script_.on_start(started_);
    ++started_;
  }

  std::optional<std::size_t> finish() override {
    jitter_.pause();
    const Job& job = under_way_.at(0);
    if (script_.on_finish) script_.on_finish(finished_);
    ++finished_;
    const std::optional<std::size_t> bad_segment = script_.copies ? do_copied(job) : do_job(job);
    under_way_.pop_front();
    return bad_segment;
  }

 private:
  std::optional<std::size_t> do_job(const Job& job) {
    inner_->start(job);
    return inner_->finish();
  }

  std::optional<std::size_t> do_copied(Job job) {
    const std::span<std::byte> place = job.out;
    const Bytes in(job.in.begin(), job.in.end());
    Bytes out(place.size());
    job.in = in;
    job.out = out;
    const std::optional<std::size_t> bad_segment = do_job(job);
    std::ranges::copy(out, place.begin());
    return bad_segment;
  }

  std::unique_ptr<Lane> inner_;
  LaneScript script_;
  const Jitter& jitter_;
  std::deque<Job> under_way_;
  std::uint64_t started_ = 0;
  std::uint64_t finished_ = 0;
};

// Files -------------------------------------------------------------------------------------------

// A directory that goes with all that is in it.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "gpuaes-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a directory for the test");
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::filesystem::path path() const { return path_; }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

  // How many files are in it.
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

inline void write_file(const std::string& name, std::span<const std::byte> bytes) {
  std::ofstream file(name, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + name);
}

inline Bytes read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + name);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return to_bytes(text);
}

}  // namespace gpuaes
