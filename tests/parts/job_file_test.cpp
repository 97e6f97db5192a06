// Job files whose contents are odd but authentic. tests/cli/parts/ checks that every byte is authenticated,
// and compares the contents with an independent implementation.
#include "parts/job_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "format/sealed.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

namespace gpuaes {
namespace {

std::vector<std::byte> encoded(const JobFile& job) {
  const Secret bytes = encode(job);
  return {bytes.bytes().begin(), bytes.bytes().end()};
}

JobFile job_with(std::vector<std::byte> header, const Secret& file_key) {
  const std::array<std::byte, 17> magic_and_suite{};  // not in a job file
  return {std::move(header), make_frame_secret(Cipher::aes_256, file_key, magic_and_suite, {}), 0, {}};
}

std::vector<std::byte> make_header(SealedSuite suite, const Secret& file_key) {
  Keyring keyring;
  keyring.keys.push_back({.kind = KeyKind::key_file, .secret = Secret(32)});
  return make_sealed_header(suite, file_key, keyring);
}

// The file key in the file makes a MAC for any contents.
TEST_CASE("a job file with odd contents and a valid MAC is refused") {
  Secret file_key(file_key_bytes);
  fill_random(file_key.bytes());
  const std::vector<std::byte> good = make_header({Cipher::aes_256, true}, file_key);
  const auto decode = [](const JobFile& job) { return decode_job(encoded(job), "job"); };
  const auto with_header = [&](std::vector<std::byte> header) {
    return decode(job_with(std::move(header), file_key));
  };
  REQUIRE_NOTHROW(with_header(good));
  REQUIRE_THROWS_AS(with_header(make_header({Cipher::aes_256, false}, file_key)), AuthError);
  REQUIRE_THROWS_AS(with_header({}), AuthError);
  std::vector<std::byte> header = good;
  header.push_back(std::byte{0});
  REQUIRE_THROWS_AS(with_header(header), AuthError);
  header.resize(good.size() - 1);
  REQUIRE_THROWS_AS(with_header(header), AuthError);
  header = good;
  header[16] = std::byte{9};
  REQUIRE_THROWS_AS(with_header(header), VersionError);
  JobFile many = job_with(good, file_key);
  many.count = max_parts + 1;
  REQUIRE_THROWS_AS(decode(many), AuthError);
}

// tmpfs stores any time.
TEST_CASE("the time of a planned input can be compared with any other") {
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  Cancel cancel;
  Fd memory(memfd_create("input", MFD_CLOEXEC));
  const timespec times[] = {{.tv_sec = last, .tv_nsec = 0}, {.tv_sec = last, .tv_nsec = 0}};
  REQUIRE(futimens(memory.get(), times) == 0);
  const FdSource file(std::move(memory), "input", cancel);
  CHECK(contains(failure_of([&] {
                   check_planned({.modified = {0, 0}}, file, true);
                 }),
                 "its modification time differs"));
  CHECK(contains(failure_of([&] {
                   check_planned({.modified = {last, 1}}, file, true);
                 }),
                 "by only 0.000000001 seconds"));
  CHECK_NOTHROW(check_planned({.modified = {last, 0}}, file, true));
}

TEST_CASE("a file in place of a planned block device is refused") {
  Cancel cancel;
  const FdSource file(Fd(memfd_create("input", MFD_CLOEXEC)), "input", cancel);
  CHECK_THROWS_AS(check_planned({.is_device = true}, file, true), IoError);
}

}  // namespace
}  // namespace gpuaes
