// Published AES-GCM vectors: NIST's CAVP response files, which Debian's python3-cryptography-vectors brings,
// and Wycheproof's aes_gcm_test.json in the folder that GPUAES_VECTORS names. And lanes put to them.
#pragma once

#define BOOST_BIND_GLOBAL_PLACEHOLDERS  // or Boost 1.74 says that its own JSON parser is out of date

#include <algorithm>
#include <boost/property_tree/json_parser.hpp>
#include <boost/property_tree/ptree.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aes_reference.hpp"
#include "catch.hpp"
#include "cipher/job.hpp"
#include "lane/lane.hpp"
#include "support.hpp"

namespace gpuaes {

struct GcmVector {
  std::string name;  // file and number
  Bytes key, iv, aad, plain, ciphertext, tag;
  bool valid = true;  // where not, the tag is wrong and `plain` says nothing

  // What jobs and the sealed formats use.
  bool suits_job() const { return iv.size() == sizeof(Nonce) && tag.size() == tag_bytes; }
};

// Says that vectors are not there. The test then does nothing more.
inline std::vector<GcmVector> no_vectors(const std::string& why) {
  WARN("skipped: " << why);
  return {};
}

// The cases of one CAVP response file: "Count = 0", then "NAME = digits" in any order, and "FAIL" alone in a
// line where decryption has to.
inline void read_cavp(const std::filesystem::path& path, std::vector<GcmVector>& vectors) {
  std::ifstream file(path);
  REQUIRE(file);
  constexpr std::pair<std::string_view, Bytes GcmVector::*> fields[] = {
      {"Key", &GcmVector::key},  {"IV", &GcmVector::iv},         {"AAD", &GcmVector::aad},
      {"PT", &GcmVector::plain}, {"CT", &GcmVector::ciphertext}, {"Tag", &GcmVector::tag}};
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line == "FAIL") vectors.back().valid = false;
    const std::size_t sign = line.find(" =");
    if (line.starts_with('[') || line.starts_with('#') || sign == std::string::npos) continue;
    const std::string name = line.substr(0, sign);
    const std::string_view value = std::string_view(line).substr(sign + 2);
    if (name == "Count") vectors.emplace_back().name = path.filename().string() + value.data();
    for (const auto& [field, member] : fields)
      if (name == field) vectors.back().*member = from_hex(value);
  }
}

inline std::vector<GcmVector> cavp_gcm_vectors() {
  const std::filesystem::path folder = "/usr/lib/python3/dist-packages/cryptography_vectors/ciphers/AES/GCM";
  if (!std::filesystem::exists(folder))
    return no_vectors("no " + folder.string() + "; Debian's python3-cryptography-vectors brings it");
  std::vector<GcmVector> vectors;
  for (const std::string_view kind : {"gcmEncryptExtIV", "gcmDecrypt"})
    for (const std::string_view bits : {"128", "192", "256"})
      read_cavp(folder / (std::string(kind).append(bits) + ".rsp"), vectors);
  CHECK(vectors.size() == 47250);
  return vectors;
}

// Without those whose IV is empty: they are invalid for that alone, and their tags are right.
inline std::vector<GcmVector> wycheproof_gcm_vectors() {
  const char* const folder = std::getenv("GPUAES_VECTORS");
  if (folder == nullptr) return no_vectors("GPUAES_VECTORS names no folder with aes_gcm_test.json");
  boost::property_tree::ptree file;
  boost::property_tree::read_json(std::string(folder) + "/aes_gcm_test.json", file);
  std::vector<GcmVector> vectors;
  for (const auto& [group_key, group] : file.get_child("testGroups"))
    for (const auto& [test_key, test] : group.get_child("tests")) {
      const auto bytes = [&fields = test](const char* name) {
        return from_hex(fields.get<std::string>(name));
      };
      if (bytes("iv").empty()) continue;
      vectors.push_back({"aes_gcm_test.json " + test.get<std::string>("tcId"), bytes("key"), bytes("iv"),
                         bytes("aad"), bytes("msg"), bytes("ct"), bytes("tag"),
                         test.get<std::string>("result") == "valid"});
    }
  CHECK(vectors.size() == 310);
  return vectors;
}

// Jobs --------------------------------------------------------------------------------------------

// What the segments of one job share.
struct GcmStream {
  const CipherKey& key;
  Nonce base_nonce{};
  std::uint64_t first_segment = 0;
  Bytes aad{};
};

struct Opened {
  std::optional<std::size_t> bad_segment;
  Bytes plain;
};

inline Nonce nonce_of(std::span<const std::byte> bytes) {
  Nonce nonce{};
  for (std::size_t i = 0; i < nonce.size(); ++i) nonce[i] = std::to_integer<std::uint8_t>(bytes[i]);
  return nonce;
}

inline Bytes joined(Bytes bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

// A job with `segments` segments: as many as `plain` takes, or one more, which is empty then.
inline Bytes seal(Lane& lane, const GcmStream& stream, const Bytes& plain, std::size_t segments) {
  Bytes sealed(plain.size() + segments * tag_bytes, std::byte{0xa5});
  lane.start({.operation = Operation::seal,
              .key = &stream.key,
              .in = plain,
              .out = sealed,
              .base_nonce = stream.base_nonce,
              .first_segment = stream.first_segment,
              .aad = stream.aad});
  CHECK_FALSE(lane.finish().has_value());
  return sealed;
}

inline Opened open(Lane& lane, const GcmStream& stream, const Bytes& sealed, std::size_t segments) {
  Opened opened{{}, Bytes(sealed.size() - segments * tag_bytes, std::byte{0xa5})};
  lane.start({.operation = Operation::open,
              .key = &stream.key,
              .in = sealed,
              .out = opened.plain,
              .base_nonce = stream.base_nonce,
              .first_segment = stream.first_segment,
              .aad = stream.aad});
  opened.bad_segment = lane.finish();
  return opened;
}

// Puts the lane to every published vector that a job can hold: sealed where it is valid, and opened. Prints
// how many there were.
inline void check_gcm_vectors(Lane& lane) {
  const auto check = [&](const std::vector<GcmVector>& vectors) {
    std::size_t count = 0;
    for (const GcmVector& vector : vectors) {
      if (!vector.suits_job()) continue;
      ++count;
      CAPTURE(lane.name(), vector.name);
      const GcmStream stream{lasting_key(vector.key), nonce_of(vector.iv), 0, vector.aad};
      const Bytes sealed = joined(vector.ciphertext, vector.tag);
      const Opened opened = open(lane, stream, sealed, 1);
      if (vector.valid) {
        CHECK(difference(seal(lane, stream, vector.plain, 1), sealed) == "");
        CHECK_FALSE(opened.bad_segment.has_value());
        CHECK(difference(opened.plain, vector.plain) == "");
      } else {
        CHECK(opened.bad_segment == std::optional<std::size_t>(0));
      }
    }
    return count;
  };
  const std::vector<GcmVector> cavp = cavp_gcm_vectors(), wycheproof = wycheproof_gcm_vectors();
  const std::size_t cavp_count = check(cavp), wycheproof_count = check(wycheproof);
  if (!cavp.empty()) CHECK(cavp_count == 2250);
  if (!wycheproof.empty()) CHECK(wycheproof_count == 197);
  std::printf("AES-GCM on %s: %zu CAVP and %zu Wycheproof vectors\n", lane.name().c_str(), cavp_count,
              wycheproof_count);
}

}  // namespace gpuaes
