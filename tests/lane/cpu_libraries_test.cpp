// The libraries for CPU lanes, and how a run chooses among them.
#include "lane/cpu_libraries.hpp"

#include "cipher/libgcrypt.hpp"
#include "lane/aead_checks.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t chunk_bytes = 4 << 20;
constexpr int chunks_before_trial = 16;  // 64 MiB

}  // namespace

TEST_CASE("libgcrypt computes every cipher but Kuznyechik", "[optional]") {
  if (libgcrypt_version().empty()) return skip("libgcrypt is not installed, or it is older than 1.10");
  for (const CipherInfo& each : ciphers) {
    CAPTURE(each.name);
    const CipherKey key = some_key(each.cipher);
    Job job{.operation = Operation::seal, .key = &key, .base_nonce = some_nonce(each.cipher)};
    CHECK((make_libgcrypt_cipher(job) != nullptr) == (each.family != Family::kuznyechik));
    job.operation = Operation::ctr;
    CHECK((make_libgcrypt_cipher(job) != nullptr) == (each.family == Family::aes));
  }
}

TEST_CASE("CPU lanes begin with libcrypto, and choose the faster library once, after 64 MiB of input") {
  const Bytes in(chunk_bytes);
  Bytes out(chunk_bytes);
  for (const CipherInfo& each : ciphers) {
    if (!each.ctr) continue;
    CAPTURE(each.name);
    const CipherKey key = some_key(each.cipher);
    const Job job{.key = &key, .in = in, .out = out};
    CpuLibraries libraries;
    for (int i = 0; i < chunks_before_trial; ++i) CHECK(libraries.choose(job) == CpuLibrary::libcrypto);
    CHECK(libraries.description().empty());
    const CpuLibrary chosen = libraries.choose(job);
    const std::string description = libraries.description();
    const bool may_choose = each.family == Family::aes && !libgcrypt_version().empty();
    CHECK(description.empty() == !may_choose);
    CHECK(description.starts_with("libgcrypt") == (chosen == CpuLibrary::libgcrypt));
    for (int i = 0; i < 3; ++i) CHECK(libraries.choose(job) == chosen);
    CHECK(libraries.description() == description);
  }
}

TEST_CASE("a CPU can be measured with each library, with every cipher, in each of its modes") {
  for (const CipherInfo& each : ciphers)
    for (const bool authenticated : {false, true}) {
      CAPTURE(each.name, authenticated);
      if (!authenticated && !each.ctr) {
        CHECK_THROWS_AS(measure_cpu(each.cipher, authenticated), LaneError);
        continue;
      }
      const CpuRates rates = measure_cpu(each.cipher, authenticated);
      CHECK(rates.libcrypto > 0);
      CHECK((rates.libgcrypt > 0) == (!libgcrypt_version().empty() && each.family != Family::kuznyechik));
    }
}

}  // namespace gpuaes
