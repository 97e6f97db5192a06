// --range, --part and --into: decrypt a piece of the plaintext without reading everything before it. The
// pipeline sees only windows of the input and the output.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "cli/requests.hpp"
#include "format/format.hpp"
#include "io/shared_output.hpp"
#include "io/source_sink.hpp"
#include "run/open_stream.hpp"

namespace gpuaes {

// `size` bytes of another source, starting at `begin`. That source is a file or block device; its own offset
// follows the last byte read. IoError if it turns out to be shorter.
class WindowSource : public SourceWrapper {
 public:
  WindowSource(Source& whole, std::uint64_t begin, std::uint64_t size);

  std::size_t read(std::span<std::byte> out) override;
  bool ready(std::chrono::milliseconds patience) override;
  std::uint64_t parallel_size() const override;
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  std::size_t place_in_page(std::uint64_t offset) const override {
    return inner_.place_in_page(begin_ + offset);
  }
  void skip_to(std::uint64_t offset) override;
  std::uint64_t message_end(std::uint64_t offset) override;

 private:
  std::uint64_t begin_;
  std::uint64_t size_;
  std::uint64_t at_ = 0;
};

// Discards the first `skipped` bytes, passes the next `size` bytes to another sink, and discards the rest.
// place_in_page() is that of the first byte that is passed on: only the first chunk can begin before it.
class WindowSink : public SinkWrapper {
 public:
  WindowSink(Sink& inner, std::uint64_t skipped, std::uint64_t size);
  void write(std::span<const std::byte> bytes) override;

  std::uint64_t passed() const noexcept { return passed_; }  // bytes written to the other sink

 private:
  std::uint64_t to_skip_;
  std::uint64_t to_pass_;
  std::uint64_t passed_ = 0;
};

// Decrypts the units of `whole` from byte `begin` of its body, a multiple of its unit_in(). `to_end` is
// whether they end with the body. Errors give offsets in the whole input, and count verified plaintext from
// byte `from`. The end of the stream must be verified elsewhere.
class WindowSession : public SessionWrapper {
 public:
  WindowSession(const Session& whole, std::uint64_t begin, std::uint64_t from, bool to_end)
      : SessionWrapper(whole), begin_(begin), from_(from), to_end_(to_end) {}

  std::size_t output_size(std::size_t in_size, bool last) const override {
    return whole_.output_size(in_size, last && to_end_);
  }
  std::uint64_t plaintext_before(std::uint64_t offset) const override {
    const std::uint64_t before = whole_.plaintext_before(begin_ + offset);
    return before - std::min(before, from_);
  }
  Job job(const Piece& piece) const override { return whole_.job(in_whole(piece)); }
  Outcome verify(const Piece& piece, std::optional<std::size_t> bad_segment) const override {
    return whole_.verify(in_whole(piece), bad_segment);
  }

 private:
  Piece in_whole(const Piece& piece) const {
    return {begin_ + piece.offset, piece.in, piece.out, piece.last && to_end_, from_};
  }

  std::uint64_t begin_;
  std::uint64_t from_;
  bool to_end_;
};

// Opens the last unit of a body of `body_bytes` bytes, which must be in a file or on a block device, and
// returns the size of the plaintext in bytes. AuthError if a tag is wrong or the unit is not the last one.
std::uint64_t open_end(const Source& source, const Session& session, std::uint64_t body_bytes);

// The position of a range.
struct RangePlace {
  std::uint64_t whole_bytes = 0;  // of the whole plaintext
  std::uint64_t plaintext_offset = 0, plaintext_bytes = 0;
  std::uint64_t body_offset = 0, body_bytes = 0;  // of the whole units that contain it
  std::uint64_t skipped_bytes = 0;                // of plaintext before it in the first of these units
};

class RangeStream : public OpenStream {
 public:
  // `parts` must belong to a stream to decrypt whose size is known. AuthError if the last segment, which
  // shows the length, is damaged or is not the last one; UsageError if the range extends past the end.
  RangeStream(const Selection& selection, StreamParts parts);

  Source& source() override { return source_; }
  const Session& session() const override { return session_; }
  Sink& sink() override { return sink_; }
  std::uint64_t bytes_out(std::uint64_t) const override { return sink_.passed(); }

 protected:
  const RangePlace& place() const { return place_; }

 private:
  std::optional<std::uint64_t> body_bytes() const override { return place_.body_bytes; }

  RangePlace place_;
  WindowSource source_;
  WindowSession session_;
  WindowSink sink_;
};

// A share that is written at its place in a file that other processes write, too.
class SharedStream : public RangeStream {
 public:
  // `output` must be the sink of `parts`. Throws the same errors as RangeStream.
  SharedStream(const IntoFile& into, StreamParts parts, SharedOutput& output);

 private:
  void write_header() override;
  bool is_done() const override { return output_.is_done(); }

  IntoFile into_;
  SharedOutput& output_;
};

// Open the streams of these modes.
std::unique_ptr<OpenStream> open_mode(const Selection& selection, StreamOpening& opening);
std::unique_ptr<OpenStream> open_mode(const IntoFile& into, StreamOpening& opening);

}  // namespace gpuaes
