// A part of a stream's body, as a session: the pieces of a pipeline that sees nothing but that part.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "format/format.hpp"

namespace gpuaes {

// The units of `whole` from byte `begin` of the body on, a multiple of its unit_in, to decrypt. Errors name
// the offsets of the whole, and count as good what is plaintext from byte `from` on. Where the stream ends
// has to be judged elsewhere.
class WindowSession : public Session {
 public:
  WindowSession(const Session& whole, std::uint64_t begin, std::uint64_t from)
      : whole_(whole), begin_(begin), from_(from) {}

  std::size_t unit_in() const override { return whole_.unit_in(); }
  std::size_t unit_out() const override { return whole_.unit_out(); }
  Cipher cipher() const override { return whole_.cipher(); }
  std::size_t output_size(std::size_t in_size, bool) const override {
    return whole_.output_size(in_size, false);
  }
  Job job(const Piece& piece) const override { return whole_.job(in_whole(piece)); }
  Outcome judge(const Piece& piece, bool, std::optional<std::size_t> bad_segment) const override {
    return whole_.judge(in_whole(piece), false, bad_segment);
  }

 private:
  Piece in_whole(const Piece& piece) const { return {begin_ + piece.offset, piece.in, piece.out, from_}; }

  const Session& whole_;
  std::uint64_t begin_;
  std::uint64_t from_;
};

}  // namespace gpuaes
