// MGM as on CPU lanes, for one message and in place, with the interface of the reference implementation.
#pragma once

#include <algorithm>

#include "cipher/modes/mgm_cpu.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/reference_aeads.hpp"

namespace gpuaes {

class SingleMgm {
 public:
  explicit SingleMgm(std::span<const std::byte> key) : mgm_(key) {}
  SingleMgm(std::span<const std::byte> key, const kuznyechik::SimdCode& code) : mgm_(key, code) {}

  void seal(const Nonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> plain,
            std::span<std::byte> ciphertext, std::span<std::byte> tag) const {
    Bytes sealed(plain.begin(), plain.end());
    sealed.resize(plain.size() + tag_bytes);
    const Segment<std::byte, const std::byte> segment{
        .nonce = nonce, .sealed = sealed, .plain = std::span(sealed).first(plain.size())};
    mgm_.seal(aad, std::span(&segment, 1));
    std::ranges::copy(segment.ciphertext(), ciphertext.begin());
    std::ranges::copy(segment.tag(), tag.begin());
  }

  [[nodiscard]] bool open(const Nonce& nonce, std::span<const std::byte> aad,
                          std::span<const std::byte> ciphertext, std::span<const std::byte> tag,
                          std::span<std::byte> plain) const {
    Bytes sealed(ciphertext.begin(), ciphertext.end());
    sealed.insert(sealed.end(), tag.begin(), tag.end());
    const Segment<const std::byte, std::byte> segment{
        .nonce = nonce, .sealed = sealed, .plain = std::span(sealed).first(plain.size())};
    const auto bad = mgm_.open(aad, std::span(&segment, 1));
    std::ranges::copy(segment.plain, plain.begin());
    return !bad;
  }

 private:
  MgmCpu mgm_;
};

struct MgmSealed {
  Bytes ciphertext, tag;
};

// Checks that CPU lanes seal `plain` in place as the reference does, and open the result. Returns the result.
inline MgmSealed check_as_reference(const mgm::Mgm& reference, const SingleMgm& cpu, const Nonce& nonce,
                                    const Bytes& aad, const Bytes& plain) {
  Bytes expected(plain.size()), expected_tag(16), got = plain, tag(16);
  reference.seal(nonce, aad, plain, expected, expected_tag);
  cpu.seal(nonce, aad, got, got, tag);
  CHECK(difference(got, expected) == "");
  CHECK(difference(tag, expected_tag) == "");
  CHECK(cpu.open(nonce, aad, got, tag, got));
  CHECK(difference(got, plain) == "");
  return {expected, expected_tag};
}

}  // namespace gpuaes
