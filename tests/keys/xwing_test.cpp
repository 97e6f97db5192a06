// ML-KEM-768 and X-Wing against published vectors. tests/cli/recipients/ has the text of keys. What needs a
// libcrypto with ML-KEM is tagged [optional].
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "keys/kdf.hpp"
#include "keys/kem.hpp"
#include "keys/ml_kem.hpp"
#include "keys/recipient.hpp"
#include "keys/x25519.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/keys.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view ml_kem_vectors[] = {
#include "vectors/ml_kem_768.inc"
};
constexpr std::string_view xwing_vectors[] = {
#include "vectors/xwing.inc"
};

// Skips the test case if libcrypto has no ML-KEM.
bool have_ml_kem() {
  if (has_ml_kem()) return true;
  skip(lacks_ml_kem());
  return false;
}

Bytes sha512(const Bytes& bytes) {
  Sha512 hash;
  hash.add(bytes);
  const auto digest = hash.finish();
  return {digest.begin(), digest.end()};
}

// The fields of the vectors of one operation, after its name, the source and the number.
std::vector<std::vector<Bytes>> vectors_of(std::string_view operation) {
  std::vector<std::vector<Bytes>> vectors;
  for (const std::string_view line : ml_kem_vectors) {
    const std::vector<std::string> words = words_of(line);
    if (words.at(0) != operation) continue;
    vectors.emplace_back();
    for (std::size_t i = 3; i < words.size(); ++i) vectors.back().push_back(from_hex(words[i]));
  }
  return vectors;
}

struct XWingVector {
  Bytes seed, random, public_key, ciphertext, shared;
};

std::vector<XWingVector> published_xwing() {
  std::vector<XWingVector> vectors;
  for (const std::string_view line : xwing_vectors) {
    const std::vector<std::string> words = words_of(line);
    REQUIRE(words.size() == 5);
    vectors.push_back(
        {from_hex(words[0]), from_hex(words[1]), from_hex(words[2]), from_hex(words[3]), from_hex(words[4])});
  }
  return vectors;
}

// Replaces a coefficient of an ML-KEM key: 12 bits, least significant first (FIPS 203, section 4.2.1).
Bytes with_coefficient(Bytes key, std::size_t i, unsigned value) {
  for (unsigned bit = 0; bit < 12; ++bit) {
    std::byte& byte = key[(12 * i + bit) / 8];
    const auto mask = static_cast<std::byte>(1u << (12 * i + bit) % 8);
    byte = (value >> bit & 1) != 0 ? byte | mask : byte & ~mask;
  }
  return key;
}

Bytes with_point(Bytes bytes, std::string_view point) {
  std::ranges::copy(from_hex(point), bytes.end() - x25519_bytes);
  return bytes;
}

const std::string zero_point(64, '0'),
    base_point = "09" + std::string(62, '0'), prime = "ed" + std::string(60, 'f') + "7f";

}  // namespace

// ML-KEM -------------------------------------------------------------------------------------------

TEST_CASE("ML-KEM-768 makes the keys of NIST's vectors from their seeds", "[optional]") {
  if (!have_ml_kem()) return;
  const auto vectors = vectors_of("keygen");
  CHECK(vectors.size() == 25);
  for (const auto& fields : vectors) CHECK(sha512(ml_kem_public_key(fields.at(0))) == fields.at(1));
}

TEST_CASE("ML-KEM-768 encapsulates as in published vectors", "[optional]") {
  if (!have_ml_kem()) return;
  const auto vectors = vectors_of("encaps");
  CHECK(vectors.size() == 11);
  for (const auto& fields : vectors) {
    const std::optional<Encapsulation> made = ml_kem_encapsulate(fields.at(0), fields.at(1));
    REQUIRE(made);
    CHECK(sha512(made->ciphertext) == fields.at(2));
    CHECK(bytes_of(made->shared) == fields.at(3));
  }
}

TEST_CASE("ML-KEM-768 decapsulates as in published vectors, including implicit rejection", "[optional]") {
  if (!have_ml_kem()) return;
  const auto vectors = vectors_of("decaps");
  CHECK(vectors.size() == 10);
  for (const auto& fields : vectors)
    CHECK(bytes_of(ml_kem_decapsulate(fields.at(0), fields.at(1))) == fields.at(2));
}

TEST_CASE("ML-KEM-768 keys that fail the check of FIPS 203, section 7.2, are refused", "[optional]") {
  if (!have_ml_kem()) return;
  const auto vectors = vectors_of("refuse");
  CHECK(vectors.size() == 6);
  const Bytes random(ml_kem_random_bytes);
  for (const auto& fields : vectors) {
    CHECK_FALSE(is_ml_kem_key(fields.at(0)));
    CHECK_FALSE(ml_kem_encapsulate(fields.at(0), random));
  }
  const PublicBytes good = ml_kem_public_key(test_bytes(ml_kem_seed_bytes));
  for (std::size_t i = 0; i < 768; ++i) {
    CHECK(is_ml_kem_key(with_coefficient(good, i, 3328)));
    for (const unsigned value : {3329u, 4095u}) CHECK_FALSE(is_ml_kem_key(with_coefficient(good, i, value)));
  }
  Bytes longer = good;
  longer.push_back(std::byte{0});
  CHECK_FALSE(is_ml_kem_key(longer));
  CHECK_FALSE(is_ml_kem_key(Bytes(good.begin(), good.end() - 1)));
}

// X-Wing -------------------------------------------------------------------------------------------

TEST_CASE("X-Wing matches the draft's vectors", "[optional]") {
  if (!have_ml_kem()) return;
  const std::vector<XWingVector> vectors = published_xwing();
  CHECK(vectors.size() == 3);
  for (const XWingVector& vector : vectors) {
    CHECK(xwing_kem.public_key_of(secret_of(vector.seed)) == vector.public_key);
    CHECK(xwing_kem.is_canonical(vector.public_key));
    const std::optional<Encapsulation> made = xwing_encapsulate(vector.public_key, secret_of(vector.random));
    REQUIRE(made);
    CHECK(made->ciphertext == vector.ciphertext);
    CHECK(bytes_of(made->shared) == vector.shared);
    const std::optional<Secret> shared = xwing_kem.decapsulate(secret_of(vector.seed), vector.ciphertext);
    REQUIRE(shared);
    CHECK(bytes_of(*shared) == vector.shared);
  }
}

TEST_CASE("X-Wing refuses X25519 parts that are not canonical or have low order", "[optional]") {
  if (!have_ml_kem()) return;
  const XWingVector vector = published_xwing().front();
  const Secret seed = secret_of(vector.seed), random = secret_of(vector.random);
  CHECK(xwing_kem.is_canonical(with_point(vector.public_key, base_point)));
  CHECK(xwing_encapsulate(with_point(vector.public_key, base_point), random));
  CHECK(xwing_kem.decapsulate(seed, with_point(vector.ciphertext, base_point)));
  CHECK(xwing_kem.is_canonical(with_point(vector.public_key, zero_point)));
  CHECK_FALSE(xwing_kem.is_canonical(with_point(vector.public_key, prime)));
  for (const std::string& point : {zero_point, prime}) {
    CHECK_FALSE(xwing_encapsulate(with_point(vector.public_key, point), random));
    CHECK_FALSE(xwing_kem.decapsulate(seed, with_point(vector.ciphertext, point)));
  }
  CHECK_FALSE(xwing_kem.is_canonical(with_coefficient(vector.public_key, 700, 3329)));
  CHECK_FALSE(xwing_encapsulate(with_coefficient(vector.public_key, 700, 3329), random));
}

}  // namespace gpuaes
