// --range: a part of a plaintext, decrypted without the parts before it. The pipeline sees windows: a part of
// the input, and a part of the output, in place of the whole.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cli/options.hpp"
#include "format/format.hpp"
#include "io/source_sink.hpp"
#include "run/open_stream.hpp"

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
// the offsets of the whole, and count as good what is plaintext from byte `wanted_from` on. Where the stream ends
// has to be verified elsewhere.
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
  Outcome verify(const Piece& piece, bool, std::optional<std::size_t> bad_segment) const override {
    return whole_.verify(in_whole(piece), false, bad_segment);
  }

 private:
  Piece in_whole(const Piece& piece) const { return {begin_ + piece.offset, piece.in, piece.out, from_}; }

  const Session& whole_;
  std::uint64_t begin_;
  std::uint64_t from_;
};

// Where a range is.
struct RangePlace {
  std::uint64_t plaintext_offset = 0, plaintext_bytes = 0;
  std::uint64_t body_offset = 0, body_bytes = 0;  // of the whole units that hold it
  std::uint64_t skipped_bytes = 0;                // of plaintext, before it in the first of these
};

// In a stream to decrypt whose body is a file or a block device of `body_bytes`. Opens the last unit before
// anything else: where the format has segments, the length is then authentic too. AuthError if that segment
// is damaged, or not the last one; UsageError for a range beyond the end.
RangePlace find_range(const ByteRange& range, const Source& source, const Session& session,
                      std::uint64_t body_bytes);

class RangeStream : public OpenStream {
 public:
  // The range of a stream to decrypt, whose size is known. Throws what find_range() throws.
  RangeStream(const ByteRange& range, StreamParts parts);

  Source& source() override { return source_; }
  const Session& session() const override { return session_; }
  Sink& sink() override { return sink_; }
  std::uint64_t bytes_out(std::uint64_t) const override { return sink_.passed(); }

 private:
  std::optional<std::uint64_t> body_bytes() const override { return place_.body_bytes; }

  RangePlace place_;
  WindowSource source_;
  WindowSession session_;
  WindowSink sink_;
};

}  // namespace gpuaes
