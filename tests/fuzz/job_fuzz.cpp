// Any job file is read, or refused with AuthError or VersionError; what was read is written as a job file
// that is read as the same one, and its input can be compared with a file. Receipts are read only as they
// were written for a part. The fuzzer cannot guess MACs, so each input is also read with the right one.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/sealed.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/program.hpp"
#include "io/cancel.hpp"
#include "io/fd_source_sink.hpp"
#include "parts/job_file.hpp"
#include "support/bytes.hpp"

namespace gpuaes {
namespace {

// Gives the job file the MAC of its contents, if it is long enough.
void authenticate(std::span<std::byte> job) {
  constexpr std::size_t key_at = 15;
  if (job.size() < key_at + file_key_bytes + mac_bytes) return;
  Secret file_key(file_key_bytes);
  std::ranges::copy(job.subspan(key_at, file_key_bytes), file_key.bytes().begin());
  std::ranges::copy(make_mac(file_key, "gpuaes-parts/1 job", job.first(job.size() - mac_bytes)),
                    job.last(mac_bytes).begin());
}

// The file key is also the program.
void check_receipts(const FrameSecret& secret) {
  Program program(secret.file_key.bytes());
  const auto number = static_cast<std::uint32_t>(program.any(4));
  const auto of = static_cast<std::uint32_t>(program.any(4));
  const auto session = seal_frame(secret, FrameKind::part, number, of, program.any());
  std::array<std::byte, frame_header_bytes> part;
  std::ranges::copy(session->header(), part.begin());
  auto receipt = make_receipt(secret, *decode_frame(part));
  const std::optional<FrameHeader> header = open_receipt(secret, receipt);
  require(header && encode(*header) == part);
  receipt[program.number(receipt.size())] ^= static_cast<std::byte>(1 + program.number(255));
  require(!open_receipt(secret, receipt));
  // The commitment of the part is for its numbers, but not for its length.
  std::byte& changed =
      program.any(1) % 2 == 0 ? part[1 + program.number(8)] : part[17 + program.number(message_header_bytes)];
  changed ^= static_cast<std::byte>(1 + program.number(255));
  require(!open_receipt(secret, make_receipt(secret, *decode_frame(part))));
}

// The file has the size of that in the seed.
FdSource make_file(Cancel& cancel) {
  Fd file(memfd_create("input", MFD_CLOEXEC));
  require(ftruncate(file.get(), 40000) == 0);
  return {std::move(file), "the input", cancel};
}

void check_input(const PlannedInput& input, bool other_name) {
  static Cancel cancel;
  static const FdSource file = make_file(cancel);
  try {
    check_planned(input, file, other_name);
  } catch (const IoError&) {
  }
}

void read(std::span<const std::byte> bytes) {
  try {
    const JobFile job = decode_job(bytes, "it");
    const Secret again = encode(job);
    require(is_equal(encode(decode_job(again.bytes(), "it")).bytes(), again.bytes()));
    require(!job.input || again.size() == bytes.size());
    check_receipts(job.secret);
    if (job.input)
      for (const bool other_name : {false, true}) check_input(*job.input, other_name);
  } catch (const AuthError&) {
  } catch (const VersionError&) {
  }
}

}  // namespace

void fuzz(std::span<const std::byte> input) {
  read(input);
  Bytes authentic(input.begin(), input.end());
  authenticate(authentic);
  read(authentic);
}

}  // namespace gpuaes
