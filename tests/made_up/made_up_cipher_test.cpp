// No format accepts a cipher that is only in the list of ciphers, and no lane computes anything with it.
// tests/CMakeLists.txt adds a made-up cipher to a copy of the list and compiles formats and lanes with it.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "format/formats.hpp"
#include "format/sessions.hpp"
#include "lane/backends.hpp"
#include "lane/plan.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/keys.hpp"

namespace gpuaes {
namespace {

const CipherInfo& made_up = info(Cipher::made_up);

// The formats that the program lists.
std::vector<std::string> all_formats() {
  const auto error = error_of<UsageError>([] { find_format("none"); });
  REQUIRE(error.has_value());
  std::string_view names =
      std::string_view(error->hint()).substr(std::string_view("the formats are ").size());
  std::vector<std::string> all;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = names.find(", ");
    all.emplace_back(names.substr(0, end));
    if (end != std::string_view::npos) names.remove_prefix(end + 2);
  }
  return all;
}

CipherKey made_up_key() {
  return make_key(test_bytes(made_up.key_bytes), Cipher::made_up);
}

// CPU lanes, and CUDA lanes if there is a device.
std::vector<std::unique_ptr<Lane>> all_lanes(std::span<std::byte> memory) {
  const LaneSetup setup{.memory = memory, .max_in = memory.size(), .max_out = memory.size()};
  std::vector<LaneSpec> specs = parse_lanes("cpu+reference").named;
  if (count_cuda_devices() > 0) specs.push_back(parse_lanes("cuda:0:1").named.front());
  return open_lanes(specs, setup);
}

}  // namespace

TEST_CASE("-c accepts the name of the made-up cipher") {
  CHECK(find_cipher("made-up") == Cipher::made_up);
  CHECK(ciphers.back().cipher == Cipher::made_up);
}

TEST_CASE(
    "every format refuses a cipher that its row does not name, without a hint if no format supports it") {
  const std::vector<std::string> names = all_formats();
  CHECK(names.size() >= 4);
  for (const std::string& name : names)
    for (const bool decrypt : {false, true}) {
      CAPTURE(name, decrypt);
      SessionRequest request;
      request.decrypt = decrypt;
      request.cipher = Cipher::made_up;
      const auto error = error_of<UsageError>([&] { open_session(find_format(name), std::move(request)); });
      REQUIRE(error.has_value());
      CHECK(error->what() == "the " + name + " format does not support made-up");
      CHECK(error->hint() == "");
    }
}

TEST_CASE("the length of a key selects only AES") {
  const FileKey key(made_up_key().bytes);
  CHECK(contains(failure_of([&] { choose_cipher({}, key); }), "usage: aes-256 requires a key of 32 bytes"));
}

TEST_CASE("a cipher without a suite cannot seal a message") {
  CHECK(contains(failure_of([] { make_segment_session({.key = made_up_key()}); }), "usage: "));
  CHECK(failure_of([] { suite_of(Cipher::made_up); }) ==
        "usage: made-up cannot be used in an authenticated format");
}

TEST_CASE("every lane refuses a cipher that it does not implement, and writes nothing") {
  Bytes memory(4096);
  const std::span in = std::span(memory).first(1024), out = std::span(memory).subspan(2048, 1024);
  const CipherKey key = made_up_key();
  for (const auto& lane : all_lanes(memory))
    for (const Operation operation : {Operation::ctr, Operation::seal, Operation::open}) {
      const std::size_t tag = operation == Operation::ctr ? 0 : tag_bytes;
      const Job job{.operation = operation,
                    .key = &key,
                    .in = in.first(1024 - (operation == Operation::seal ? tag : 0)),
                    .out = out.first(1024 - (operation == Operation::open ? tag : 0)),
                    .base_nonce = {{}, made_up.nonce_bytes}};
      CAPTURE(lane->name(), operation);
      CHECK(contains(failure_of([&] { lane->start(job); }), "lane: this lane does not support made-up"));
      CHECK(difference(out, Bytes(1024)) == "");
    }
}

TEST_CASE(
    "lanes of a backend that does not support the cipher do not open, without a hint if no backend does") {
  for (const std::string_view name : {"cpu", "reference", "cuda:0", "cpu+reference"}) {
    CAPTURE(name);
    const auto error = error_of<LaneError>([&] {
      open_lanes(parse_lanes(name).named, {{}, 0, 0, Cipher::made_up});
    });
    REQUIRE(error.has_value());
    CHECK(error->what() ==
          fmt::format("{} lanes do not support made-up", name.substr(0, name.find_first_of(":+"))));
    CHECK(error->hint() == "");
  }
}

TEST_CASE("there are no rates for a cipher that no lane implements") {
  CHECK(contains(failure_of([] { lane_rates(Cipher::made_up, false); }), "made-up"));
}

}  // namespace gpuaes
