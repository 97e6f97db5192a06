// Runs the bodies of the bench's kernels on the host and compares with the reference and FIPS 197.
#include <array>
#include <random>
#include <type_traits>
#include <vector>

#include "bench/aes_lookup.hpp"
#include "support/aes_reference.hpp"
#include "support/catch.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t key_sizes[] = {16, 24, 32};
constexpr aes::LookupTables all_tables = aes::make_lookup_tables();

// Keys and plaintext of FIPS 197, appendix C.
aes::RoundKeys appendix_c_keys(std::size_t key_bytes) {
  Bytes key(key_bytes);
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  return aes::expand_key(key);
}

aes::Block to_block(const CounterBlock& bytes) {
  aes::Block block{};
  for (std::size_t i = 0; i < 16; ++i) block.words[i / 4] |= std::uint32_t{bytes[i]} << 8 * (i % 4);
  return block;
}

template <class Form>
auto linear(const aes::LookupTables& tables) {
  return aes::Linear<typename Form::Entry>{Form::entries(tables)};
}

template <class Form>
std::vector<std::uint32_t> replicate(const aes::LookupTables& tables) {
  using Banked = aes::Banked<Form::tables>;
  std::vector<std::uint32_t> words(Banked::words);
  for (unsigned i = 0; i < Banked::words; ++i) words[i] = Form::entries(tables)[Banked::entry_of(i)];
  return words;
}

// One thread has the block, together with other blocks: `count` in all.
template <class Form, unsigned count, class Memory>
CounterBlock run_one_thread(const CounterBlock& in, const aes::RoundKeys& keys, const Memory& memory) {
  aes::Block parts[count] = {};
  parts[count - 1] = to_block(in);
  aes::run_rounds<aes::OneThread, Form>(parts, 0, keys.words.data(), keys.rounds, memory, nullptr);
  return to_bytes(parts[count - 1]);
}

// Runs all threads of the cut in turn, round by round.
template <class Cut, class Form, class Memory>
CounterBlock run_threads(const CounterBlock& in, const aes::RoundKeys& keys, const Memory& memory) {
  std::array<std::uint32_t, Cut::threads> parts{}, next{};
  const aes::Block block = to_block(in);
  bool all_give_their_own = true;
  for (unsigned p = 0; p < Cut::threads; ++p) parts[p] = Cut::part(block, p) ^ Cut::key(keys.words.data(), p);
  const auto run_round = [&](int round, auto last) {
    for (unsigned p = 0; p < Cut::threads; ++p) {
      const auto give = [&](unsigned q) { return Cut::template give<Form, last.value>(parts[q], q, memory); };
      const auto gather = [&](std::uint32_t own, unsigned q) {
        all_give_their_own &= own == give(p);
        return give(q);
      };
      const std::uint32_t* const key = &keys.words[4 * static_cast<unsigned>(round)];
      next[p] = Cut::template step<Form, last.value>(parts[p], p, memory, gather) ^ Cut::key(key, p);
    }
    parts = next;
  };
  for (int round = 1; round < keys.rounds; ++round) run_round(round, std::false_type{});
  run_round(keys.rounds, std::true_type{});
  REQUIRE(all_give_their_own);
  CounterBlock out{};
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned per_part = 16 / Cut::threads;
    out[i] = static_cast<std::uint8_t>(parts[i / per_part] >> 8 * (i % per_part));
  }
  return out;
}

// The form's output for the block with these tables, with every memory and cut.
template <class Form>
std::vector<CounterBlock> run_form(const CounterBlock& in, const aes::RoundKeys& keys,
                                   const aes::LookupTables& tables, unsigned bank) {
  const auto replicated = replicate<Form>(tables);
  const auto flat = linear<Form>(tables);
  const aes::Banked<Form::tables> banked{replicated.data(), 4 * bank};
  return {run_one_thread<Form, 1>(in, keys, flat),
          run_one_thread<Form, 3>(in, keys, flat),
          run_threads<aes::FourThreads, Form>(in, keys, flat),
          run_threads<aes::SixteenThreads, Form>(in, keys, flat),
          run_one_thread<Form, 1>(in, keys, banked),
          run_one_thread<Form, 3>(in, keys, banked),
          run_threads<aes::FourThreads, Form>(in, keys, banked),
          run_threads<aes::SixteenThreads, Form>(in, keys, banked)};
}

// The same for every form.
std::vector<CounterBlock> run_all(const CounterBlock& in, const aes::RoundKeys& keys,
                                  const aes::LookupTables& tables, unsigned bank) {
  auto results = run_form<aes::Sbox>(in, keys, tables, bank);
  for (const auto& more :
       {run_form<aes::Ttables<1>>(in, keys, tables, bank), run_form<aes::Ttables<4>>(in, keys, tables, bank)})
    results.insert(results.end(), more.begin(), more.end());
  return results;
}

constexpr std::size_t bodies = 3 * 8;

std::vector<CounterBlock> all_of(const CounterBlock& block) {
  return std::vector<CounterBlock>(bodies, block);
}

CounterBlock random_block(std::mt19937_64& random) {
  return store_counter({random(), random()});
}

CounterBlock reference(const aes::RoundKeys& keys, const CounterBlock& in) {
  CounterBlock out{};
  aes::encrypt_block(keys, in.data(), out.data());
  return out;
}

}  // namespace

TEST_CASE("every body matches the reference in every bank") {
  std::mt19937_64 random(5);
  for (const std::size_t key_bytes : key_sizes) {
    const aes::RoundKeys keys = appendix_c_keys(key_bytes);
    for (unsigned bank = 0; bank < 32; ++bank) {
      const CounterBlock plain = random_block(random);
      CHECK(run_all(plain, keys, all_tables, bank) == all_of(reference(keys, plain)));
    }
  }
}

}  // namespace gpuaes
