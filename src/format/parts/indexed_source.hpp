// Parts that can be read in any order, because the index has been verified first.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "format/parts/index.hpp"
#include "format/parts/source.hpp"

namespace gpuaes {

class IndexedParts : public PartsSource {
 public:
  // As in make_parts_source().
  IndexedParts(PartsSession& session, bool salvage) : session_(session), salvage_(salvage) {}

  std::uint64_t parallel_size() const override { return index().body_bytes(); }
  std::size_t read(std::span<std::byte>) override { return 0; }
  bool ready(std::chrono::milliseconds) override { return true; }
  std::uint64_t message_end(std::uint64_t offset) override;
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override;

 protected:
  void set_index(FoundIndex index);
  const PartsSession& session() const { return session_; }
  const PartsIndex& index() const { return *session_.index(); }

  // Opens a part with that frame header. If it does not match the index, throws AuthError, or, with
  // `salvage`, loses the part.
  void open_part(const PartPlace& part, const std::optional<FrameHeader>& header) const;

 private:
  // The frame header of a part; nothing if it is missing.
  virtual std::optional<FrameHeader> header_of(const PartPlace& part) const = 0;

  // Reads segments, which begin at `offset` after the frame header.
  virtual void read_segments(const PartPlace& part, std::uint64_t offset, std::span<std::byte> out) const = 0;

  bool matches_index(const FrameHeader& header, std::uint32_t number) const;

  PartsSession& session_;
  const bool salvage_;
  mutable std::atomic<std::int64_t> of_ = -1;  // of the first part that was opened
};

}  // namespace gpuaes
