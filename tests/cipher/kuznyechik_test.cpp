// Kuznyechik against the examples of RFC 7801 and GOST R 34.13-2015.
#include "support/kuznyechik_reference.hpp"

#include <array>
#include <random>
#include <string_view>

#include "support/aes_reference.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/kuznyechik_vectors.hpp"

namespace gpuaes {
namespace {

using kuznyechik::Block;

Block block(std::string_view hex) {
  return counter_block(hex);
}

// `forward` maps each block to the next one, and `backward` maps it back.
template <class Forward, class Backward, std::size_t count>
void check_chain(const std::array<std::string_view, count>& blocks, Forward forward, Backward backward) {
  for (std::size_t i = 0; i + 1 < count; ++i) {
    CAPTURE(blocks[i]);
    CHECK(forward(block(blocks[i])) == block(blocks[i + 1]));
    CHECK(backward(block(blocks[i + 1])) == block(blocks[i]));
  }
}

}  // namespace

TEST_CASE("Kuznyechik's S matches RFC 7801, section 5.1") {
  constexpr std::array<std::string_view, 5> blocks{
      "ffeeddccbbaa99881122334455667700", "b66cd8887d38e8d77765aeea0c9a7efc",
      "559d8dd7bd06cbfe7e7b262523280d39", "0c3322fed531e4630d80ef5c5a81c50b",
      "23ae65633f842d29c5df529c13f5acda"};
  check_chain(
      blocks, [](const Block& in) { return kuznyechik::substitute(in); },
      [](const Block& in) { return kuznyechik::substitute(in, kuznyechik::inverse_pi); });
}

TEST_CASE("Kuznyechik's R matches RFC 7801, section 5.2") {
  constexpr std::array<std::string_view, 5> blocks{
      "00000000000000000000000000000100", "94000000000000000000000000000001",
      "a5940000000000000000000000000000", "64a59400000000000000000000000000",
      "0d64a594000000000000000000000000"};
  check_chain(blocks, kuznyechik::shift_in, kuznyechik::shift_out);
}

TEST_CASE("Kuznyechik's L matches RFC 7801, section 5.3") {
  constexpr std::array<std::string_view, 5> blocks{
      "64a59400000000000000000000000000", "d456584dd0e3e84cc3166e4b7fa2890d",
      "79d26221b87b584cd42fbc4ffea5de9a", "0e93691a0cfc60408b7b68f66b513c13",
      "e6a8094fee0aa204fd97bcb0b44b8580"};
  check_chain(
      blocks, [](const Block& in) { return kuznyechik::mix(in); }, kuznyechik::unmix);
}

TEST_CASE("Kuznyechik's key schedule matches the constants and round keys of RFC 7801, section 5.4") {
  constexpr std::string_view constants[] = {
      "6ea276726c487ab85d27bd10dd849401", "dc87ece4d890f4b3ba4eb92079cbeb02",
      "b2259a96b4d88e0be7690430a44f7f03", "7bcd1b0b73e32ba5b79cb140f2551504",
      "156f6d791fab511deabb0c502fd18105", "a74af7efab73df160dd208608b9efe06",
      "c9e8819dc73ba5ae50f5b570561a6a07", "f6593616e6055689adfba18027aa2a08"};
  for (std::size_t i = 0; i < 8; ++i) CHECK(kuznyechik::constants[i] == block(constants[i]));
  constexpr std::string_view round_keys[] = {
      "8899aabbccddeeff0011223344556677", "fedcba98765432100123456789abcdef",
      "db31485315694343228d6aef8cc78c44", "3d4553d8e9cfec6815ebadc40a9ffd04",
      "57646468c44a5e28d3e59246f429f1ac", "bd079435165c6432b532e82834da581b",
      "51e640757e8745de705727265a0098b1", "5a7925017b9fdd3ed72a91a22286f984",
      "bb44e25378c73123a5f32f73cdb6e517", "72e9dd7416bcf45b755dbaa88e4a4043"};
  const kuznyechik::RoundKeys keys = kuznyechik::expand_key(from_hex(kuznyechik_key));
  for (std::size_t i = 0; i < keys.of.size(); ++i) {
    CAPTURE(i);
    CHECK(keys.of[i] == block(round_keys[i]));
  }
}

TEST_CASE("L S for secret blocks in the key schedule matches L S by table") {
  std::mt19937 random(3);
  for (unsigned i = 0; i < 256; ++i) {
    Block in;
    for (std::uint8_t& byte : in) byte = static_cast<std::uint8_t>(random());
    in[i % 16] = static_cast<std::uint8_t>(i);
    CHECK(kuznyechik::mix_secret(in) == kuznyechik::mix(kuznyechik::substitute(in)));
  }
}

TEST_CASE("Kuznyechik encrypts and decrypts the blocks of GOST R 34.13-2015, A.1.1, and of RFC 7801") {
  const kuznyechik::RoundKeys keys = kuznyechik::expand_key(from_hex(kuznyechik_key));
  constexpr std::string_view ciphertexts[] = {
      "7f679d90bebc24305a468d42b9d4edcd", "b429912c6e0032f9285452d76718d08b",
      "f0ca33549d247ceef3f5a5313bd4b157", "d0b09ccde830b9eb3a02c4c5aa8ada98"};
  const Bytes plaintext = from_hex(kuznyechik_plaintext);
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    Block in;
    for (std::size_t k = 0; k < 16; ++k) in[k] = std::to_integer<std::uint8_t>(plaintext[16 * i + k]);
    CHECK(kuznyechik::encrypt(keys, in) == block(ciphertexts[i]));
    CHECK(kuznyechik::decrypt(keys, block(ciphertexts[i])) == in);
  }
}

}  // namespace gpuaes
