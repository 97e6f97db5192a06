#include "format/sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "cipher/cpu_cipher.hpp"
#include "cipher/modes/segments.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t block_bytes = sizeof(CounterBlock);

// The number of bytes at the end of a piece to open that are too few for a tag.
std::size_t stray_bytes(std::size_t in_size, const SegmentRules& rules) {
  const std::size_t rest = in_size % rules.sealed_bytes();
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
      : stream_(std::move(stream)), suite_(info(stream_.key.cipher).suite.value()) {}

  std::span<const std::byte> header() const override { return stream_.header; }
  std::span<const std::byte> commitment() const override { return stream_.commitment; }
  Cipher cipher() const override { return stream_.key.cipher; }
  SegmentRules rules() const override { return stream_.rules; }
  std::size_t unit_in() const override { return stream_.decrypt ? sealed_bytes() : plain_bytes(); }
  std::size_t unit_out() const override { return stream_.decrypt ? plain_bytes() : sealed_bytes(); }

  std::size_t output_size(std::size_t in_size, bool last) const override {
    if (stream_.decrypt) return opened_size(in_size, stream_.rules);
    return last ? sealed_size(in_size, stream_.rules) : in_size + in_size / plain_bytes() * tag_bytes;
  }

  Job job(const Piece& piece) const override {
    const std::size_t stray = stream_.decrypt ? stray_bytes(piece.in.size(), stream_.rules) : 0;
    const Job job{
        .operation = stream_.decrypt ? Operation::open : Operation::seal,
        .key = &stream_.key,
        .in = piece.in.first(piece.in.size() - stray),
        .out = piece.out,
        .rules = stream_.rules,
        .base_nonce = stream_.base_nonce,
        .first_segment = piece.offset / unit_in(),
        .ends_message = piece.last && !stream_.decrypt,  // verify() opens a full segment as the last
        .aad = bytes_of(suite_.aad),
        .input_offset = input_offset(piece),
        .plaintext_offset = plaintext_offset(piece)};
    if (job.first_segment + count_segments(job) > suite_.max_segments)
      throw IoError(fmt::format("the input is too long; the format allows at most 2^{} segments of {} bytes",
                                std::countr_zero(suite_.max_segments), plain_bytes()));
    return job;
  }

  Outcome verify(const Piece& piece, std::optional<std::size_t> bad_segment) const override {
    if (!stream_.decrypt) return {piece.out.size(), std::nullopt};
    if (bad_segment) return try_as_last(piece, *bad_segment);
    const std::size_t rest = piece.in.size() % sealed_bytes();
    if (piece.last && rest < tag_bytes)
      return failed("the input is truncated after {}; {} bytes of plaintext before that were verified", piece,
                    piece.in.size(), piece.out.size());
    const bool ends_empty = piece.last && rest == tag_bytes && piece.offset + piece.in.size() > tag_bytes;
    if (ends_empty && stream_.rules.last_may_be_full())
      return failed("the input is corrupt at {}; {} bytes of plaintext before that were verified", piece,
                    piece.in.size() - tag_bytes, piece.out.size());
    return {piece.out.size(), std::nullopt};
  }

 private:
  // Arguments: place in the input, size of the plaintext.
  using Message = fmt::format_string<const std::string&, const std::uint64_t&>;

  std::size_t plain_bytes() const { return stream_.rules.plain_bytes; }
  std::size_t sealed_bytes() const { return stream_.rules.sealed_bytes(); }

  // A full segment that does not verify may be the last one.
  Outcome try_as_last(const Piece& piece, std::size_t segment) const {
    const std::size_t end = (segment + 1) * sealed_bytes(), plain_end = (segment + 1) * plain_bytes();
    if (!stream_.rules.last_may_be_full() || end > piece.in.size()) return failed_tag(piece, segment);
    Secret plain(plain_bytes());  // the output may overlap the input
    if (!open_as_last(job(piece), segment, plain.bytes())) return failed_tag(piece, segment);
    std::ranges::copy(plain.bytes(), piece.out.subspan(segment * plain_bytes()).begin());
    if (piece.last && end == piece.in.size()) return {plain_end, std::nullopt};
    return failed(
        "the stream ends at {}, but the input has trailing bytes; {} bytes of plaintext were verified", piece,
        end, plain_end);
  }

  Outcome failed_tag(const Piece& piece, std::size_t segment) const {
    const std::size_t at = segment * sealed_bytes(), released = segment * plain_bytes();
    if (piece.in.size() - at < sealed_bytes())
      return failed(
          "the input is corrupt or truncated at {}; {} bytes of plaintext before that were "
          "verified",
          piece, at, released);
    return failed("the input is corrupt at {}; {} bytes of plaintext before that were verified", piece, at,
                  released);
  }

  std::uint64_t input_offset(const Piece& piece) const { return stream_.place.input_bytes + piece.offset; }
  std::uint64_t plaintext_offset(const Piece& piece) const {
    return stream_.place.plaintext_bytes + piece.offset / sealed_bytes() * plain_bytes();
  }

  // `at` and `released` count from the beginning of the piece; the message counts from the beginning of the
  // input and of the requested plaintext.
  Outcome failed(Message message, const Piece& piece, std::size_t at, std::size_t released) const {
    const std::uint64_t end = plaintext_offset(piece) + released;
    const std::uint64_t plaintext = end - std::min(end, piece.wanted_from);
    const std::uint64_t offset = input_offset(piece) + at;
    const auto& part = stream_.place.part;
    const std::string where =
        part ? fmt::format("byte {}, in part {}", offset, *part) : fmt::format("byte {}", offset);
    return {released, AuthError(fmt::format(message, where, plaintext))};
  }

  SegmentStream stream_;
  const Suite& suite_;
};

}  // namespace

std::unique_ptr<Session> make_ctr_session(CipherKey key, Counter first, std::vector<std::byte> header) {
  return std::make_unique<CtrSession>(std::move(key), first, std::move(header));
}

std::size_t opened_size(std::size_t in_size, const SegmentRules& rules) {
  const std::size_t in_segments = in_size - stray_bytes(in_size, rules);
  return in_segments - tag_bytes * count_segments(in_segments, rules);
}

std::unique_ptr<Session> make_segment_session(SegmentStream stream) {
  return std::make_unique<SegmentSession>(std::move(stream));
}

Outcome run_piece(const Session& session, const Piece& piece) {
  const Job job = session.job(piece);
  return session.verify(piece, make_cpu_cipher(job)->run(job));
}

}  // namespace gpuaes
