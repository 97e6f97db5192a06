// The search for a last segment before appended bytes, with segments that other code sealed.
#include "cipher/modes/last_segment.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "cipher/cpu_cipher.hpp"
#include "cipher/modes/segments.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"

namespace gpuaes {
namespace {

// A message of a full segment and a shorter one, and a job to open it with the bytes that follow it.
class Message {
 public:
  Message(Cipher cipher, const SegmentRules& rules, std::size_t last_bytes, std::size_t aad_bytes)
      : rules_(rules), key_{cipher, Secret(info(cipher).key_bytes)}, aad_(test_bytes(aad_bytes)) {
    std::ranges::copy(test_bytes(key_.bytes.size(), 5), key_.bytes.bytes().begin());
    plain_ = test_bytes(rules.plain_bytes + last_bytes);
    sealed_.resize(plain_.size() + 2 * tag_bytes);
    const Job job = this->job(Operation::seal, plain_, sealed_);
    CHECK_FALSE(make_cpu_cipher(job)->run(job));
  }

  // What is found if the second segment is followed by these bytes, up to the size of a full one.
  std::optional<std::size_t> find(const Bytes& appended) {
    sealed_.insert(sealed_.end(), appended.begin(), appended.end());
    sealed_.resize(std::min(sealed_.size(), 2 * rules_.sealed_bytes()));
    plain_.resize(sealed_.size() - 2 * tag_bytes);
    return find_last_segment(job(Operation::open, sealed_, plain_), 1);
  }

  void flip(std::size_t at) { sealed_[rules_.sealed_bytes() + at] ^= std::byte{1}; }

 private:
  Job job(Operation operation, const Bytes& in, Bytes& out) const {
    return {.operation = operation,
            .key = &key_,
            .in = in,
            .out = out,
            .rules = rules_,
            .base_nonce = {{1, 2, 3}, info(key_.cipher).aead.nonce_bytes},
            .first_segment = 7,
            .aad = aad_};
  }

  SegmentRules rules_;
  CipherKey key_;
  Bytes aad_, plain_, sealed_;
};

struct Case {
  Cipher cipher;
  SegmentRules rules;
};
const std::vector<Case> cases{{Cipher::aes_128, {}},
                              {Cipher::aes_256, {}},
                              {Cipher::kuznyechik, {}},
                              {Cipher::chacha20_poly1305, age_segments}};

}  // namespace

TEST_CASE("a last segment of any size is found before appended bytes") {
  for (const auto& [cipher, rules] : cases) {
    std::vector<std::size_t> sizes{100, 4095, 4096, 4097, rules.plain_bytes - 17, rules.plain_bytes - 1};
    for (std::size_t size = 0; size <= 33; ++size) sizes.push_back(size);
    for (const std::size_t size : sizes)
      for (const std::size_t aad_bytes : {0, 16, 21}) {
        if (cipher == Cipher::kuznyechik && aad_bytes == 0) continue;  // not allowed
        CAPTURE(info(cipher).name, size, aad_bytes);
        CHECK(Message(cipher, rules, size, aad_bytes).find(Bytes(1)) == size + tag_bytes);
        CHECK(Message(cipher, rules, size, aad_bytes).find(test_bytes(1000)) == size + tag_bytes);
      }
  }
}

TEST_CASE("no last segment is found after a change, or without appended bytes") {
  for (const auto& [cipher, rules] : cases) {
    CAPTURE(info(cipher).name);
    CHECK_FALSE(Message(cipher, rules, 1000, 16).find({}));
    CHECK_FALSE(Message(cipher, rules, 0, 16).find({}));
    for (const std::size_t at : {0, 500, 999, 1000, 1015}) {
      Message changed(cipher, rules, 1000, 16);
      changed.flip(at);
      CHECK_FALSE(changed.find(Bytes(100)));
    }
  }
}

}  // namespace gpuaes
