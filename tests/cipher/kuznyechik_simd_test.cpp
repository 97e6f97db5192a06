// Kuznyechik for CPUs against the reference, with the code for one instruction set. GPUAES_SIMD_CODE is its
// name. If this CPU does not support it, the program exits with 77, which CTest reports as skipped.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "cipher/kuznyechik/cpu.hpp"
#include "lane/backends.hpp"
#include "support/aes_reference.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/counters.hpp"
#include "support/keys.hpp"
#include "support/kuznyechik_reference.hpp"
#include "support/reference_aeads.hpp"
#include "support/reference_lane.hpp"
#include "support/single_mgm.hpp"

namespace gpuaes {
namespace {

using kuznyechik::Block;

std::string_view code_name() {
  const char* const name = std::getenv("GPUAES_SIMD_CODE");
  return name == nullptr ? "" : name;
}

// Null if this build or this CPU lacks it.
const kuznyechik::SimdCode* find_code() {
  for (const kuznyechik::SimdCode& each : kuznyechik::simd_codes())
    if (each.name == code_name() && each.is_supported()) return &each;
  return nullptr;
}

// Numbers of blocks around one batch and around several, for every size of batch.
std::vector<std::size_t> counts_of_blocks() {
  std::vector<std::size_t> counts;
  for (std::size_t count = 0; count <= 130; ++count) counts.push_back(count);
  for (const std::size_t whole : {256, 512, 768, 1024, 1536})
    for (const std::size_t count : {whole - 1, whole, whole + 1, whole + 33}) counts.push_back(count);
  return counts;
}

}  // namespace

TEST_CASE("encrypting any number of blocks matches the reference") {
  std::mt19937 random(4);
  for (const std::size_t count : counts_of_blocks()) {
    CAPTURE(count);
    Bytes key(32);
    for (std::byte& byte : key) byte = static_cast<std::byte>(random());
    const kuznyechik::RoundKeys keys = kuznyechik::expand_key(key);
    std::vector<Block> blocks(count), expected(count);
    for (Block& each : blocks)
      for (std::uint8_t& byte : each) byte = static_cast<std::uint8_t>(random());
    for (std::size_t k = 0; k < count; ++k) expected[k] = kuznyechik::encrypt(keys, blocks[k]);
    KuznyechikCpu(key, *find_code()).encrypt(blocks);
    CHECK((blocks == expected));
  }
}

TEST_CASE("encryption matches the reference for every value of every byte of a block") {
  const Bytes key(32);
  const kuznyechik::RoundKeys keys = kuznyechik::expand_key(key);
  // The first round key is zero, so S is applied to the block itself.
  CHECK(keys.of[0] == Block{});
  std::vector<Block> blocks(16 * 256);
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned byte = 0; byte < 256; ++byte) blocks[256 * i + byte][i] = static_cast<std::uint8_t>(byte);
  std::vector<Block> expected = blocks;
  for (Block& each : expected) each = kuznyechik::encrypt(keys, each);
  KuznyechikCpu(key, *find_code()).encrypt(blocks);
  CHECK((blocks == expected));
}

TEST_CASE("counter mode matches the reference for every length and across a carry of the counter") {
  const Bytes key = test_bytes(32, 5), in = test_bytes(3 * 8192 + 100);
  const CipherKey lane_key = make_key(key, Cipher::kuznyechik);
  const KuznyechikCpu cpu(key, *find_code());
  const Counter first{7, all - 40};
  Bytes expected(in.size());
  const auto reference = make_reference_lane();
  reference->start({.key = &lane_key, .in = in, .out = expected, .counter = store_counter(first)});
  CHECK_FALSE(reference->finish().has_value());
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size <= 600; ++size) sizes.push_back(size);
  for (const std::size_t count : counts_of_blocks())
    for (const std::size_t rest : {0, 1, 15})
      if (16 * count + rest <= in.size()) sizes.push_back(16 * count + rest);
  for (const std::size_t size : sizes) {
    CAPTURE(size);
    Bytes out(size);
    cpu.ctr(first, std::span(in).first(size), out);
    CHECK(difference(out, std::span(expected).first(size)) == "");
  }
}

TEST_CASE("MGM matches the reference for lengths around multiples of vector sizes") {
  const Bytes key = test_bytes(32, 3), aad = test_bytes(41, 2);
  const mgm::Mgm reference(key);
  const SingleMgm cpu(key, *find_code());
  const Nonce nonce{counter_block("7edcba98765432100123456789abcdef"), 16};
  for (const std::size_t size :
       {0,    1,    16,   17,   255,  256,  257,  495,  496,  511,  512,  513,  528,   1024,  1025,
        1600, 2047, 2048, 2049, 4095, 4096, 4097, 4112, 8191, 8192, 8193, 8208, 12304, 16384, 16385}) {
    CAPTURE(size);
    const Bytes plain = test_bytes(size, 1);
    auto [ciphertext, tag] = check_as_reference(reference, cpu, nonce, aad, plain);
    tag[size % 16] ^= std::byte{1};
    Bytes opened(size);
    CHECK_FALSE(cpu.open(nonce, aad, ciphertext, tag, opened));
  }
}

}  // namespace gpuaes

int main(int argc, char** argv) {
  if (gpuaes::find_code() == nullptr) {
    std::printf("skipped: this CPU has no %s\n", std::string(gpuaes::code_name()).c_str());
    return 77;
  }
  return gpuaes::run_tests(argc, argv);
}
