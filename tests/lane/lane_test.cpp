// Lanes compared with published vectors, with each other and with libcrypto; and the syntax of -l.
#include "lane/lane.hpp"
#include "cli/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lane/backends.hpp"
#include "support/aes_reference.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/counters.hpp"
#include "support/cpu_lanes.hpp"
#include "support/errors.hpp"
#include "support/keys.hpp"
#include "support/nist_vectors.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

// The output of one job.
Bytes do_job(Lane& lane, const CipherKey& key, const CounterBlock& counter, const Bytes& in) {
  Bytes out(in.size(), std::byte{0xa5});
  lane.start({.key = &key, .in = in, .out = out, .counter = counter});
  CHECK_FALSE(lane.finish().has_value());
  return out;
}

// Encrypts one block, as the counter of a job whose input is zeros.
Bytes encrypt_block(Lane& lane, const CipherKey& key, const Bytes& block) {
  CounterBlock counter{};
  for (std::size_t i = 0; i < counter.size(); ++i) counter[i] = std::to_integer<std::uint8_t>(block.at(i));
  return do_job(lane, key, counter, Bytes(16));
}

}  // namespace

// Published vectors -------------------------------------------------------------------------------

TEST_CASE("every lane encrypts and decrypts the CTR vectors of SP 800-38A, F.5.1 to F.5.6") {
  const CounterBlock counter = counter_block(ctr_counter);
  const Bytes plaintext = from_hex(ctr_plaintext);
  for (const NamedLane& named : all_lanes())
    for (const CtrVector& vector : ctr_vectors) {
      CAPTURE(named.name, vector.key);
      const auto lane = named.make();
      const CipherKey key = make_key(from_hex(vector.key));
      const Bytes ciphertext = from_hex(vector.ciphertext);
      CHECK(difference(do_job(*lane, key, counter, plaintext), ciphertext) == "");
      CHECK(difference(do_job(*lane, key, counter, ciphertext), plaintext) == "");
    }
}

namespace {

// One test in a CAVP response file: its lines "NAME = digits".
using Fields = std::map<std::string, Bytes>;

// The encryption tests in such a file.
std::vector<Fields> read_vectors(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE(file);
  std::vector<Fields> tests;
  bool encrypt = false;
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    if (line.starts_with('[')) encrypt = line == "[ENCRYPT]";
    const std::size_t sign = line.find(" = ");
    if (!encrypt || line.starts_with('#') || sign == std::string::npos) continue;
    const std::string name = line.substr(0, sign);
    std::string digits = line.substr(sign + 3);
    std::ranges::transform(digits, digits.begin(), [](unsigned char c) { return std::tolower(c); });
    if (name == "COUNT")
      tests.emplace_back();
    else
      tests.at(tests.size() - 1)[name] = from_hex(digits);
  }
  return tests;
}

}  // namespace

TEST_CASE("every lane passes the known answer tests of AESAVS", "[optional]") {
  if (!have_nist_vectors()) return;
  struct File {
    std::string_view name;
    std::array<std::size_t, 3> tests;  // for each key length, from AESAVS, appendices B to E
  };
  constexpr File files[] = {{"ECBGFSbox", {7, 6, 5}},
                            {"ECBKeySbox", {21, 24, 16}},
                            {"ECBVarKey", {128, 192, 256}},
                            {"ECBVarTxt", {128, 128, 128}}};
  for (const NamedLane& named : all_lanes()) {
    for (const File& file : files)
      for (std::size_t length = 0; length < 3; ++length) {
        const std::string name = std::string(file.name) + std::to_string(128 + 64 * length) + ".rsp";
        CAPTURE(named.name, name);
        const std::vector<Fields> tests = read_vectors(nist_aes_vectors / "ECB" / name);
        CHECK(tests.size() == file.tests[length]);
        std::size_t right = 0;
        for (const Fields& test : tests) {
          const CipherKey key = make_key(test.at("KEY"));
          CHECK(key.bytes.size() == 16 + 8 * length);
          right += encrypt_block(*named.make(), key, test.at("PLAINTEXT")) == test.at("CIPHERTEXT") ? 1 : 0;
        }
        CHECK(right == tests.size());
      }
  }
}

// Lanes against each other ------------------------------------------------------------------------

namespace {

const std::vector<std::size_t> boundary_lengths = [] {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i <= 33; ++i) lengths.push_back(i);
  for (const std::size_t around : {64, 4096, 65536})
    for (const std::size_t length : {around - 1, around, around + 1}) lengths.push_back(length);
  return lengths;
}();

}  // namespace

TEST_CASE("every lane matches libcrypto at lengths around every boundary and with every carry") {
  std::vector<std::unique_ptr<Lane>> lanes;
  for (const NamedLane& named : all_lanes()) lanes.push_back(named.make());
  for (const std::size_t key_bytes : {16, 24, 32}) {
    const CipherKey key = make_key(test_bytes(key_bytes, 99));
    for (const std::size_t length : boundary_lengths)
      for (const Counter& counter : carrying_counters) {
        // The reference is slow, and its counters do not depend on the length.
        if (length > 5000 && counter.low != all) continue;
        CAPTURE(key_bytes, length, counter.high, counter.low);
        const Bytes in = test_bytes(length);
        const Bytes expected = libcrypto_ctr(key.bytes.bytes(), store_counter(counter), in);
        for (const auto& lane : lanes)
          CHECK(difference(do_job(*lane, key, store_counter(counter), in), expected) == "");
      }
  }
}

TEST_CASE("lanes support every cipher, and CUDA lanes only the segments of its row") {
  for (const Backend backend : {Backend::cpu, Backend::cuda})
    for (const CipherInfo& cipher : ciphers) {
      CAPTURE(info(backend).name, cipher.name);
      CHECK(info(backend).supports(cipher.cipher, cipher.segments));
      for (const SegmentRules& rules : {SegmentRules{}, age_segments, SegmentRules{.plain_bytes = 48}})
        CHECK(info(backend).supports(cipher.cipher, rules) ==
              (backend != Backend::cuda || rules == cipher.segments));
    }
}

TEST_CASE("a lane refuses a nonce with the wrong length for its cipher") {
  const CipherKey key = make_key(test_bytes(32));
  const Bytes in(10);
  for (const auto& [name, make] : all_lanes()) {
    Bytes out(26);
    CAPTURE(name);
    CHECK(failure_of([&, make = make] {
            make()->start(
                {.operation = Operation::seal, .key = &key, .in = in, .out = out, .base_nonce = {{}, 5}});
          }) == "lane: the length of the job's nonce does not fit its cipher");
  }
}

#ifdef GPUAES_WITH_CUDA
TEST_CASE("only a run's devices remain visible to the CUDA runtime, until it is used") {
  constexpr const char* variable = "CUDA_VISIBLE_DEVICES";
  const auto after = [](const char* before, const auto& action) {
    setenv(variable, before, 1);
    const std::string details = action();
    std::string result = getenv(variable) + details;
    unsetenv(variable);
    return result;
  };
  const auto shown = [&](const char* before, std::string_view lanes) {
    return after(before, [&] {
      std::vector<LaneSpec> specs = parse_lanes(lanes).named;
      show_only_devices({specs});
      std::string numbers;
      for (const LaneSpec& spec : specs)
        numbers.append(" ").append(spec.shown_as ? std::to_string(*spec.shown_as) : "-");
      return numbers;
    });
  };
  CHECK(shown("0,1,2,3", "cuda:2") == "2 0");
  CHECK(shown("GPU-a,GPU-b,GPU-c", "cuda:2:4+cuda:0+cpu+cuda:2") == "GPU-a,GPU-c 1 0 - 1");
  CHECK(shown("5,6", "cuda+cpu") == "5 0 -");
  CHECK(shown("7", "cuda:0") == "7 0");
  CHECK(shown("5,6", "cuda:0+cuda:1") == "5,6 0 1");
  CHECK(shown("5,6", "cuda") == "5,6 -");    // not yet planned
  CHECK(shown("5,6", "cuda:2") == "5,6 -");  // missing, which is an error when it is opened
  CHECK(shown("5,6", "cpu:2") == "5,6 -");
  CHECK(shown("", "cuda:0") == " -");

  CHECK(after("5,6,7", [] {
          std::vector<LaneSpec> first = parse_lanes("cuda:2").named,
                                joining = parse_lanes("cpu+cuda:1").named;
          show_only_devices({first, joining});
          std::vector<LaneSpec> again = first;
          show_only_devices({again});
          return fmt::format(" {} {}", *again[0].shown_as, *joining[1].shown_as);
        }) == "6,7 1 0");

  for (const char* given : {"3,abc,1", "3,-1,1", "3"})
    CHECK(after(given, [] { return fmt::format(" {}", *known_cuda_devices()); }) ==
          std::string(given) + " 1");
  CHECK(after("3,1,GPU-a", [] { return fmt::format(" {}", *known_cuda_devices()); }) == "3,1,GPU-a 3");
  count_cuda_devices();  // the runtime reads the variable
  CHECK(shown("0,1,2,3", "cuda:2") == "0,1,2,3 -");
}
#endif

TEST_CASE("the machine's lanes are listed, CPU lanes first") {
  const std::vector<std::string> lines = describe_lanes();
  REQUIRE_FALSE(lines.empty());
  CHECK(lines[0].starts_with("cpu:" + std::to_string(usable_cpus()) + "\t"));
}

}  // namespace gpuaes
