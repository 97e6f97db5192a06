#include "format/sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "cipher/modes/aead.hpp"
#include "cipher/modes/segments.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t block_bytes = sizeof(CounterBlock);

// The number of bytes at the end of a piece to open that are too few for a tag.
std::size_t stray_bytes(std::size_t in_size) {
  const std::size_t rest = in_size % sealed_segment_bytes;
  return rest < tag_bytes ? rest : 0;
}

class CtrSession : public Session {
 public:
  CtrSession(CipherKey key, Counter first, std::vector<std::byte> header)
      : key_(std::move(key)), first_(first), header_(std::move(header)) {}

  std::span<const std::byte> header() const override { return header_; }
  Cipher cipher() const override { return key_.cipher; }
  std::size_t unit_in() const override { return block_bytes; }
  std::size_t unit_out() const override { return block_bytes; }
  std::size_t output_size(std::size_t in_size, bool) const override { return in_size; }
  Job job(const Piece& piece) const override {
    return {.operation = Operation::ctr,
            .key = &key_,
            .in = piece.in,
            .out = piece.out,
            .counter = store_counter(first_ + piece.offset / block_bytes)};
  }

 private:
  CipherKey key_;
  Counter first_;
  std::vector<std::byte> header_;
};

// Lanes get only segments with a complete tag. Stray bytes at the end of a truncated input, too few for a
// tag, are never passed to a lane.
class SegmentSession : public Session {
 public:
  explicit SegmentSession(SegmentStream stream)
      : stream_(std::move(stream)), suite_(suite_of(stream_.key.cipher)) {}

  std::span<const std::byte> header() const override { return stream_.header; }
  std::span<const std::byte> commitment() const override { return stream_.commitment; }
  Cipher cipher() const override { return stream_.key.cipher; }
  std::size_t unit_in() const override { return stream_.decrypt ? sealed_segment_bytes : segment_bytes; }
  std::size_t unit_out() const override { return stream_.decrypt ? segment_bytes : sealed_segment_bytes; }

  std::size_t output_size(std::size_t in_size, bool last) const override {
    if (!stream_.decrypt) return in_size + tag_bytes * (in_size / segment_bytes + (last ? 1 : 0));
    return opened_size(in_size);
  }

  Job job(const Piece& piece) const override {
    const std::size_t stray = stream_.decrypt ? stray_bytes(piece.in.size()) : 0;
    const Job job{.operation = stream_.decrypt ? Operation::open : Operation::seal,
                  .key = &stream_.key,
                  .in = piece.in.first(piece.in.size() - stray),
                  .out = piece.out,
                  .base_nonce = stream_.base_nonce,
                  .first_segment = piece.offset / unit_in(),
                  .aad = bytes_of(suite_.aad),
                  .input_offset = input_offset(piece),
                  .plaintext_offset = plaintext_offset(piece)};
    if (job.first_segment + count_segments(job) > suite_.max_segments)
      throw IoError(
          fmt::format("the input is too long; the format allows at most 2^{} segments of 16384 bytes",
                      std::countr_zero(suite_.max_segments)));
    return job;
  }

  Outcome verify(const Piece& piece, bool last, std::optional<std::size_t> bad_segment) const override {
    if (!stream_.decrypt) return {piece.out.size(), std::nullopt};
    if (bad_segment) return failed_tag(piece, *bad_segment);
    if (last && piece.in.size() % sealed_segment_bytes < tag_bytes)
      return failed("the input is truncated after {}; {} bytes of plaintext before that were verified", piece,
                    piece.in.size(), piece.out.size());
    return {piece.out.size(), std::nullopt};
  }

 private:
  // Arguments: place in the input, size of the plaintext.
  using Message = fmt::format_string<const std::string&, const std::uint64_t&>;
  using Hint = fmt::format_string<const std::uint64_t&>;

  Outcome failed_tag(const Piece& piece, std::size_t segment) const {
    const std::size_t at = segment * sealed_segment_bytes, released = segment * segment_bytes;
    const std::optional<std::size_t> size =
        stream_.place.part ? std::nullopt : find_last_segment(job(piece), segment);
    if (size)
      return failed(
          "the stream ends at {}, but the input has trailing bytes; {} bytes of plaintext before "
          "the last segment were verified",
          piece, at + *size, released,
          "the first {0} bytes are a complete stream; decrypt only those, for example with head -c {0}");
    if (piece.in.size() - at < sealed_segment_bytes)
      return failed(
          "the input is corrupt or truncated at {}; {} bytes of plaintext before that were "
          "verified",
          piece, at, released);
    return failed("the input is corrupt at {}; {} bytes of plaintext before that were verified", piece, at,
                  released);
  }

  std::uint64_t input_offset(const Piece& piece) const { return stream_.place.input_bytes + piece.offset; }
  std::uint64_t plaintext_offset(const Piece& piece) const {
    return stream_.place.plaintext_bytes + piece.offset / sealed_segment_bytes * segment_bytes;
  }

  // `at` and `released` count from the beginning of the piece; the message counts from the beginning of the
  // input and of the requested plaintext, and the hint from the beginning of the input.
  Outcome failed(Message message, const Piece& piece, std::size_t at, std::size_t released,
                 Hint hint = "") const {
    const std::uint64_t end = plaintext_offset(piece) + released;
    const std::uint64_t plaintext = end - std::min(end, piece.wanted_from);
    const std::uint64_t offset = input_offset(piece) + at;
    const auto& part = stream_.place.part;
    const std::string where =
        part ? fmt::format("byte {}, in part {}", offset, *part) : fmt::format("byte {}", offset);
    return {released, AuthError(fmt::format(message, where, plaintext), fmt::format(hint, offset))};
  }

  SegmentStream stream_;
  const Suite& suite_;
};

}  // namespace

std::unique_ptr<Session> make_ctr_session(CipherKey key, Counter first, std::vector<std::byte> header) {
  return std::make_unique<CtrSession>(std::move(key), first, std::move(header));
}

const Suite& suite_of(Cipher cipher) {
  const CipherInfo& row = info(cipher);
  if (!row.suite) throw UsageError(fmt::format("{} cannot be used in an authenticated format", row.name));
  return *row.suite;
}

std::size_t opened_size(std::size_t in_size) {
  const std::size_t in_segments = in_size - stray_bytes(in_size);
  return in_segments - tag_bytes * count_segments(in_segments);
}

std::unique_ptr<Session> make_segment_session(SegmentStream stream) {
  return std::make_unique<SegmentSession>(std::move(stream));
}

}  // namespace gpuaes
