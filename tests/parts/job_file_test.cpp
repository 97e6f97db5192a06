// Job files: every byte is authenticated.
#include "parts/job_file.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "format/sealed.hpp"
#include "keys/kdf.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

namespace gpuaes {
namespace {

struct Made {
  std::vector<std::byte> header;
  Secret file_key{file_key_bytes};
  std::vector<std::byte> job;
};

Made make_job(Cipher cipher, const std::optional<std::string>& label, std::size_t keys) {
  Made made;
  fill_random(made.file_key.bytes());
  std::vector<FileKey> secrets;
  for (std::size_t i = 0; i < keys; ++i) secrets.emplace_back(Secret(32));
  made.header = make_sealed_header({cipher, true}, made.file_key, {.keys = secrets, .recipients = {}});
  const Secret job = encode_job(made.header, made.file_key, label);
  made.job.assign(job.bytes().begin(), job.bytes().end());
  return made;
}

TEST_CASE("a job file holds header, file key and label") {
  const std::string longest(255, 'x');
  for (const Cipher cipher : {Cipher::aes_256, Cipher::kuznyechik})
    for (const auto& label :
         {std::optional<std::string>(), std::optional<std::string>("text"), std::optional(longest)})
      for (const std::size_t keys : {std::size_t{1}, max_slots}) {
        const Made made = make_job(cipher, label, keys);
        const JobFile job = decode_job(made.job, "job");
        REQUIRE(job.header == made.header);
        REQUIRE(job.secret.cipher == cipher);
        REQUIRE(is_equal(job.secret.file_key.bytes(), made.file_key.bytes()));
        REQUIRE(job.secret.label == label);
      }
}

TEST_CASE("any change to a job file is detected") {
  const Made made = make_job(Cipher::aes_256, "text", 1);
  for (std::size_t at = 0; at < made.job.size(); ++at)
    for (const int mask : {0x01, 0x80, 0xff}) {
      std::vector<std::byte> job = made.job;
      job[at] ^= static_cast<std::byte>(mask);
      INFO("byte " << at << ", mask " << mask);
      REQUIRE_THROWS_AS(decode_job(job, "job"), Error);
    }
  for (std::size_t size = 0; size < made.job.size(); ++size) {
    INFO("the first " << size << " bytes");
    REQUIRE_THROWS_AS(decode_job(std::span(made.job).first(size), "job"), AuthError);
  }
  std::vector<std::byte> longer = made.job;
  longer.push_back(std::byte{0});
  REQUIRE_THROWS_AS(decode_job(longer, "job"), AuthError);
}

// The file key in the file makes a MAC for any contents.
TEST_CASE("a job file with odd contents and a valid MAC is refused") {
  const Made made = make_job(Cipher::aes_256, {}, 1);
  const Secret whole =
      encode_job(make_sealed_header({Cipher::aes_256, false}, made.file_key,
                                    {.keys = std::array{FileKey(Secret(32))}, .recipients = {}}),
                 made.file_key, {});
  REQUIRE_THROWS_AS(decode_job(whole.bytes(), "job"), AuthError);
  const auto with_header = [&](std::vector<std::byte> header) {
    const Secret job = encode_job(header, made.file_key, {});
    return decode_job(job.bytes(), "job");
  };
  REQUIRE_THROWS_AS(with_header({}), AuthError);
  std::vector<std::byte> header = made.header;
  header.push_back(std::byte{0});
  REQUIRE_THROWS_AS(with_header(header), AuthError);
  header.resize(made.header.size() - 1);
  REQUIRE_THROWS_AS(with_header(header), AuthError);
  header = made.header;
  header[16] = std::byte{9};
  REQUIRE_THROWS_AS(with_header(header), VersionError);
}

TEST_CASE("the version of a job file must be 1") {
  Made made = make_job(Cipher::aes_256, {}, 1);
  made.job[13] = std::byte{'2'};
  REQUIRE_THROWS_AS(decode_job(made.job, "job"), VersionError);
  made.job[13] = std::byte{'x'};
  REQUIRE_THROWS_AS(decode_job(made.job, "job"), AuthError);
}

}  // namespace
}  // namespace gpuaes
