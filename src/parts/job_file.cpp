#include "parts/job_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/header_reader.hpp"
#include "format/sealed.hpp"
#include "io/fd_source_sink.hpp"
#include "keys/kdf.hpp"
#include "run/secret_files.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view magic = "gpuaes-parts/", version = "1\n";
constexpr std::size_t key_at = magic.size() + version.size();
constexpr std::size_t label_at = key_at + file_key_bytes;

// More than any job file has.
constexpr std::size_t max_job_bytes = 128 << 10;

std::array<std::byte, mac_bytes> job_mac(const Secret& file_key, std::span<const std::byte> message) {
  return make_mac(file_key, "gpuaes-parts/1 job", message);
}

[[noreturn]] void refuse_damaged(const std::string& name) {
  throw AuthError(fmt::format("the job file {} is damaged", name),
                  "parts that were sealed with it can be joined only with an undamaged copy");
}

void check_magic(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view text = as_text(bytes.first(std::min(bytes.size(), key_at)));
  const bool has_magic = text.size() == key_at && text.starts_with(magic);
  if (has_magic && text.ends_with(version)) return;
  if (has_magic && is_other_version(text.substr(magic.size())))
    throw VersionError(fmt::format("the job file {} has a version other than 1", name));
  throw AuthError(fmt::format("{} is not a job file", name), "gpuaes-parts plan writes job files");
}

// Takes bytes from the beginning of `rest`.
std::span<const std::byte> take(std::span<const std::byte>& rest, std::size_t size, const std::string& name) {
  if (rest.size() < size) refuse_damaged(name);
  const std::span<const std::byte> taken = rest.first(size);
  rest = rest.subspan(size);
  return taken;
}

SealedHeader parse_header(std::span<const std::byte> bytes) {
  HeaderReader reader([&bytes](std::span<std::byte> out) {
    const std::size_t count = std::min(out.size(), bytes.size());
    std::ranges::copy(bytes.first(count), out.begin());
    bytes = bytes.subspan(count);
    return count;
  });
  return read_sealed_header(reader);
}

}  // namespace

Secret encode_job(std::span<const std::byte> header, const Secret& file_key,
                  const std::optional<std::string>& label) {
  const std::string_view text = label ? std::string_view(*label) : std::string_view();
  Secret job(label_at + 1 + text.size() + 2 + header.size() + mac_bytes);
  std::span<std::byte> rest = job.bytes();
  const auto put = [&rest](std::span<const std::byte> bytes) {
    std::ranges::copy(bytes, rest.begin());
    rest = rest.subspan(bytes.size());
  };
  const auto put_number = [&rest](std::size_t number, std::size_t size) {
    store_big_endian(number, rest.first(size));
    rest = rest.subspan(size);
  };
  put(bytes_of(magic));
  put(bytes_of(version));
  put(file_key.bytes());
  put_number(text.size(), 1);
  put(bytes_of(text));
  put_number(header.size(), 2);
  put(header);
  put(job_mac(file_key, std::span(std::as_const(job).bytes()).first(job.size() - mac_bytes)));
  return job;
}

JobFile decode_job(std::span<const std::byte> bytes, const std::string& name) {
  check_magic(bytes, name);
  if (bytes.size() < label_at + mac_bytes) refuse_damaged(name);
  Secret file_key(file_key_bytes);
  std::ranges::copy(bytes.subspan(key_at, file_key_bytes), file_key.bytes().begin());
  const auto authentic = bytes.first(bytes.size() - mac_bytes);
  if (!is_equal(job_mac(file_key, authentic), bytes.last(mac_bytes))) refuse_damaged(name);
  std::span<const std::byte> rest = authentic.subspan(label_at);
  const std::string label(as_text(take(rest, load_big_endian(take(rest, 1, name)), name)));
  const auto header_bytes = take(rest, load_big_endian(take(rest, 2, name)), name);
  SealedHeader header = parse_header(header_bytes);
  if (!rest.empty() || header.bytes.size() != header_bytes.size() || !header.suite.in_parts)
    refuse_damaged(name);
  FrameSecret secret = make_frame_secret(header.suite.cipher, file_key, header.bytes,
                                         label.empty() ? std::nullopt : std::optional(label));
  return {std::move(header.bytes), std::move(secret)};
}

JobFile read_job(const std::string& name, const Messages& messages, Cancel& cancel) {
  FdSource file = with_option("--job", [&] { return open_secret_file(name, cancel); });
  warn_if_readable(name, file, messages);
  const Secret contents = read_up_to(max_job_bytes, file);
  return decode_job(contents.bytes(), file.name());
}

}  // namespace gpuaes
