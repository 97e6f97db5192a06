// A part of an input, and a part of an output, in the place of the whole.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "format/format.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

// So many bytes of another source from `begin` on. All of them are there: of a file or a block device, which
// is left standing behind what was read. IoError where they turn out not to be.
class WindowSource : public Source {
 public:
  WindowSource(Source& whole, std::uint64_t begin, std::uint64_t size);

  std::size_t read(std::span<std::byte> out) override;
  bool ready(std::chrono::milliseconds patience) override;
  std::uint64_t parallel_size() const override;
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  void skip_to(std::uint64_t offset) override;

 private:
  Source& whole_;
  std::uint64_t begin_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;
};

// Of what is written the first `skipped` bytes are left out, `size` go to the other sink, and the rest is
// left out again.
class WindowSink : public Sink {
 public:
  WindowSink(Sink& inner, std::uint64_t skipped, std::uint64_t size);

  void write(std::span<const std::byte> bytes) override;
  void finish() override { inner_.finish(); }

  std::uint64_t passed() const noexcept { return passed_; }  // bytes that went to the other sink

 private:
  Sink& inner_;
  std::uint64_t to_skip_;
  std::uint64_t to_pass_;
  std::uint64_t passed_ = 0;
};

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
