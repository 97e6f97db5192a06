// A format is how a stream is framed. With a header and a key it makes a session: one keyed stream, which
// says how the stream is cut and what is to be done with each piece.
//
// To add a format: one .cpp beside this file and its line in formats.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cipher/ciphers.hpp"
#include "cipher/job.hpp"

namespace gpuaes {

// One piece of the input and the room for what becomes of it.
struct Piece {
  std::uint64_t offset;           // bytes of the stream's body before it: a multiple of the session's unit_in
  std::span<const std::byte> in;  // whole units, save at the end of the stream
  std::span<std::byte> out;       // the memory of `in`, or apart from it
};

class Session {
 public:
  virtual ~Session() = default;

  // The stream is cut into units of unit_in() bytes, of which unit_out() become; only the end may be shorter.
  virtual std::size_t unit_in() const = 0;
  virtual std::size_t unit_out() const = 0;

  // Whether a piece's output may take the place of its input.
  bool in_place() const { return unit_in() == unit_out(); }

  // How many bytes come of `in_size`.
  virtual std::size_t output_size(std::size_t in_size) const = 0;

  // The cipher work on a piece; piece.out is output_size(piece.in.size()) bytes.
  virtual Job job(const Piece& piece) const = 0;
};

// What a user gave to open a session with. Each format says with a UsageError what it misses.
struct SessionRequest {
  bool decrypt = false;
  std::optional<Cipher> cipher;
  std::optional<Secret> key;
  std::optional<std::string> iv;  // hexadecimal digits
};

struct Format {
  std::string_view name;  // as -f takes it
  bool authenticated;
  std::unique_ptr<Session> (*open)(SessionRequest request);
};

// The format of that name, or nullptr.
const Format* find_format(std::string_view name);

// "raw, openssl": for messages.
std::string format_names();

}  // namespace gpuaes
