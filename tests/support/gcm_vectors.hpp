// AES-GCM test vectors from NIST's CAVP and Wycheproof.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "cipher/job.hpp"
#include "support/aes_reference.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/nist_vectors.hpp"

namespace gpuaes {

struct GcmVector {
  std::string name;  // file and number
  Bytes key, iv, aad, plain, ciphertext, tag;
  bool valid = true;  // if false, the tag is wrong and `plain` has no meaning

  // Whether jobs support the sizes of nonce and tag.
  bool suits_job() const { return iv.size() == 12 && tag.size() == tag_bytes; }
};

// The cases of one CAVP response file: "Count = 0", then "NAME = digits" in any order, and a line "FAIL" if
// decryption must fail.
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

// Requires have_nist_vectors().
inline std::vector<GcmVector> cavp_gcm_vectors() {
  std::vector<GcmVector> vectors;
  for (const std::string_view kind : {"gcmEncryptExtIV", "gcmDecrypt"})
    for (const std::string_view bits : {"128", "192", "256"})
      read_cavp(nist_aes_vectors / "GCM" / (std::string(kind).append(bits) + ".rsp"), vectors);
  CHECK(vectors.size() == 47250);
  return vectors;
}

inline constexpr std::string_view wycheproof_gcm_cases[] = {
#include "vectors/wycheproof_aes_gcm.inc"
};

inline std::vector<GcmVector> wycheproof_gcm_vectors() {
  std::vector<GcmVector> vectors;
  for (const std::string_view line : wycheproof_gcm_cases) {
    const std::vector<std::string> words = words_of(line);
    REQUIRE(words.size() == 8);
    REQUIRE((words[1] == "valid" || words[1] == "invalid"));
    vectors.push_back({.name = "Wycheproof " + words[0],
                       .key = from_hex(words[2]),
                       .iv = from_hex(words[3]),
                       .aad = from_hex(words[4]),
                       .plain = from_hex(words[5]),
                       .ciphertext = from_hex(words[6]),
                       .tag = from_hex(words[7]),
                       .valid = words[1] == "valid"});
  }
  CHECK(vectors.size() == 310);
  CHECK(std::ranges::count(vectors, true, &GcmVector::valid) == 229);
  return vectors;
}

inline Nonce nonce_of(std::span<const std::byte> bytes) {
  Nonce nonce{{}, bytes.size()};
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(nonce.bytes)).begin());
  return nonce;
}

}  // namespace gpuaes
