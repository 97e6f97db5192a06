// Job files: every byte is authenticated.
#include "parts/job_file.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "format/sealed.hpp"
#include "keys/kdf.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

namespace gpuaes {
namespace {

struct Made {
  JobFile job;
  std::vector<std::byte> bytes;
};

std::vector<std::byte> encoded(const JobFile& job) {
  const Secret bytes = encode(job);
  return {bytes.bytes().begin(), bytes.bytes().end()};
}

JobFile job_with(std::vector<std::byte> header, Cipher cipher, const Secret& file_key,
                 const std::optional<std::string>& label = {}) {
  const std::array<std::byte, 17> magic_and_suite{};  // not in a job file
  return {std::move(header), make_frame_secret(cipher, file_key, magic_and_suite, label), 0, std::nullopt};
}

std::vector<std::byte> make_header(SealedSuite suite, const Secret& file_key, std::size_t keys) {
  Keyring keyring;
  for (std::size_t i = 0; i < keys; ++i)
    keyring.keys.push_back({.kind = KeyKind::key_file, .secret = Secret(32)});
  return make_sealed_header(suite, file_key, keyring);
}

Secret new_file_key() {
  Secret file_key(file_key_bytes);
  fill_random(file_key.bytes());
  return file_key;
}

Made make_job(Cipher cipher, const std::optional<std::string>& label, std::size_t keys) {
  const Secret file_key = new_file_key();
  JobFile job = job_with(make_header({cipher, true}, file_key, keys), cipher, file_key, label);
  std::vector<std::byte> bytes = encoded(job);
  return {std::move(job), std::move(bytes)};
}

TEST_CASE("a job file holds header, file key and label") {
  const std::string longest(255, 'x');
  for (const Cipher cipher : {Cipher::aes_256, Cipher::kuznyechik})
    for (const auto& label :
         {std::optional<std::string>(), std::optional<std::string>("text"), std::optional(longest)})
      for (const std::size_t keys : {std::size_t{1}, max_slots}) {
        const Made made = make_job(cipher, label, keys);
        const JobFile job = decode_job(made.bytes, "job");
        REQUIRE(job.header == made.job.header);
        REQUIRE(job.secret.cipher == cipher);
        REQUIRE(is_equal(job.secret.file_key.bytes(), made.job.secret.file_key.bytes()));
        REQUIRE(job.secret.label == label);
        REQUIRE(job.count == 0);
        REQUIRE(!job.input);
      }
}

TEST_CASE("a job file holds the number of parts and the input") {
  Made made = make_job(Cipher::aes_256, "text", 1);
  const PlannedInput file{.name = "/" + std::string(4095, 'x'),
                          .size = 123456789012345,
                          .modified = {-1, 999999999},
                          .changed = {4102444800, 1}};
  const PlannedInput device{.name = "/dev/loop0", .is_device = true, .size = 512};
  for (const PlannedInput& input : {file, device})
    for (const std::uint32_t count : {1u, 1000u, std::uint32_t{max_parts}}) {
      made.job.count = count;
      made.job.input = input;
      const JobFile job = decode_job(encoded(made.job), "job");
      REQUIRE(job.count == count);
      REQUIRE(job.input.has_value());
      REQUIRE(job.input->name == input.name);
      REQUIRE(job.input->is_device == input.is_device);
      REQUIRE(job.input->size == input.size);
      REQUIRE(job.input->modified == input.modified);
      REQUIRE(job.input->changed == input.changed);
    }
}

// The file key in the file makes a MAC for any contents.
TEST_CASE("a job file with odd contents and a valid MAC is refused") {
  const Made made = make_job(Cipher::aes_256, {}, 1);
  const Secret& file_key = made.job.secret.file_key;
  const auto decode = [](const JobFile& job) { return decode_job(encoded(job), "job"); };
  const auto with_header = [&](std::vector<std::byte> header) {
    return decode(job_with(std::move(header), Cipher::aes_256, file_key));
  };
  REQUIRE_THROWS_AS(with_header(make_header({Cipher::aes_256, false}, file_key, 1)), AuthError);
  REQUIRE_THROWS_AS(with_header({}), AuthError);
  std::vector<std::byte> header = made.job.header;
  header.push_back(std::byte{0});
  REQUIRE_THROWS_AS(with_header(header), AuthError);
  header.resize(made.job.header.size() - 1);
  REQUIRE_THROWS_AS(with_header(header), AuthError);
  header = made.job.header;
  header[16] = std::byte{9};
  REQUIRE_THROWS_AS(with_header(header), VersionError);
  JobFile many = job_with(made.job.header, Cipher::aes_256, file_key);
  many.count = max_parts + 1;
  REQUIRE_THROWS_AS(decode(many), AuthError);
}

}  // namespace
}  // namespace gpuaes
