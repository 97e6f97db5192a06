// --salvage: what can still be had of a damaged stream, and what of it is lost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "lane/lane.hpp"
#include "run/salvage_lane.hpp"
#include "run/stream.hpp"

namespace gpuaes {

// Stands between a stream to decrypt and its run, whose lanes all have to be wrapped. Segments that are bad
// are zeros in the output, and `tell` hears of them in stream order, as it is written.
class Salvage {
 public:
  // `header_bytes` of the input are before the source's first one.
  Salvage(const Stream& whole, std::uint64_t header_bytes, std::function<void(const std::string&)> tell);

  Stream stream() { return {whole_.source, &session_, &sink_}; }
  std::unique_ptr<Lane> wrap(std::unique_ptr<Lane> lane);

  // What was wrong with the input, if anything was, when all has been written.
  std::optional<AuthError> verdict() const;

 private:
  // That of the whole, for which an input that is truncated ends where it does.
  class ForgivingSession : public Session {
   public:
    explicit ForgivingSession(const Session& whole) : whole_(whole) {}
    std::size_t unit_in() const override { return whole_.unit_in(); }
    std::size_t unit_out() const override { return whole_.unit_out(); }
    Cipher cipher() const override { return whole_.cipher(); }
    std::size_t output_size(std::size_t in_size, bool last) const override {
      return whole_.output_size(in_size, last);
    }
    Job job(const Piece& piece) const override { return whole_.job(piece); }
    Outcome judge(const Piece& piece, bool last, std::optional<std::size_t> bad_segment) const override;
    std::optional<AuthError> truncated() const;

   private:
    const Session& whole_;
    mutable std::mutex mutex_;
    mutable std::optional<AuthError> truncated_;
  };

  // Where output goes on its way to the one of the whole, to see which damage is behind it.
  class ReportingSink : public Sink {
   public:
    ReportingSink(Sink& inner, Salvage& salvage) : inner_(inner), salvage_(salvage) {}
    void write(std::span<const std::byte> bytes) override;
    void finish() override;

   private:
    Sink& inner_;
    Salvage& salvage_;
    std::uint64_t written_ = 0;
  };

  void report(const std::vector<Damage::Range>& ranges);

  Stream whole_;
  std::uint64_t header_bytes_;
  std::function<void(const std::string&)> tell_;
  Damage damage_;
  std::uint64_t lost_bytes_ = 0;
  std::uint64_t lost_ranges_ = 0;
  ForgivingSession session_;
  ReportingSink sink_;
};

}  // namespace gpuaes
