// However a file made of parts is modified, from a pipe or a file, the released bytes are a prefix of the
// plaintext, and only the unchanged file can be read to its end without an error. Salvage writes no more than
// there is ciphertext for. Nothing reads beyond the input.
//
// The fuzzer's bytes are a program that chooses the parts, how to modify the file, and how to read it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/parts/frames.hpp"
#include "format/parts/session.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/program.hpp"
#include "run/salvage_stream.hpp"
#include "support/bytes_io.hpp"
#include "support/parts_file.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t max_part = segment_bytes + 300, max_file = 200000;

// Modification --------------------------------------------------------------------------------------

struct Changed {
  Bytes bytes;
  bool by_writer = false;  // some modification needs the file key, so the result may be a valid file
};

auto at(Bytes& bytes, std::size_t place) {
  return bytes.begin() + static_cast<std::ptrdiff_t>(place);
}

// Overwrites as much as there is.
void put(Bytes& bytes, std::size_t place, std::span<const std::byte> what) {
  if (place < bytes.size())
    std::ranges::copy(what.first(std::min(what.size(), bytes.size() - place)), at(bytes, place));
}

void put_number(Bytes& bytes, std::size_t place, std::uint64_t number, std::size_t size) {
  std::array<std::byte, 8> field;
  store_big_endian(number, field);
  put(bytes, place, std::span(field).last(size));
}

// One of the fields of a frame header.
void change_field(Bytes& bytes, std::size_t frame, Program& program) {
  switch (program.number(4)) {
    case 0:
      return put_number(bytes, frame, program.any(1), 1);
    case 1:
      return put_number(bytes, frame + 1, program.any(4), 4);
    case 2:
      return put_number(bytes, frame + 5, program.any(4), 4);
    case 3:
      return put_number(bytes, frame + 9, program.any(), 8);
  }
}

// Replaces everything from the index on.
void replace_index(Bytes& bytes, const PartsFile& file, Program& program) {
  PartsFile other{.cipher = file.cipher, .bytes = {}, .entries = file.entries};
  const std::size_t entry = program.number(other.entries.size());
  switch (program.number(4)) {
    case 0:
      other.entries[entry].length = program.any();
      break;
    case 1:
      other.entries.erase(other.entries.begin() + static_cast<std::ptrdiff_t>(entry));
      break;
    case 2:
      other.entries.push_back(other.entries[entry]);
      break;
    case 3:
      std::swap(other.entries.front(), other.entries[entry]);
      break;
  }
  other.finish();
  bytes.resize(std::min(bytes.size(), file.index_at()));
  append(bytes, other.bytes);
}

void change(Changed& changed, const PartsFile& file, const Bytes& plaintext, Program& program) {
  Bytes& bytes = changed.bytes;
  const std::size_t place = program.number(bytes.size() + 1);
  const std::size_t number = program.number(file.frames.size());
  const std::size_t frame = file.frames[number];
  switch (program.number(9)) {
    case 0:  // flip bits
      if (place < bytes.size()) bytes[place] ^= static_cast<std::byte>(program.any(1));
      return;
    case 1:  // truncate
      return bytes.resize(place);
    case 2:  // insert bytes
      bytes.insert(at(bytes, place), program.number(2000), static_cast<std::byte>(program.any(1)));
      return;
    case 3:  // remove bytes
      bytes.erase(at(bytes, place), at(bytes, place + program.number(bytes.size() - place + 1)));
      return;
    case 4:
      return change_field(bytes, frame, program);
    case 5: {  // repeat a frame in another place
      const std::size_t end =
          number + 1 < file.frames.size() ? file.frames[number + 1] : file.bytes.size() - 8;
      const std::size_t target = file.frames[program.number(file.frames.size())];
      const auto copied = std::span(file.bytes).subspan(frame, end - frame);
      bytes.insert(at(bytes, std::min(target, bytes.size())), copied.begin(), copied.end());
      return;
    }
    case 6:  // the number of parts
      return put_number(bytes, std::max<std::size_t>(bytes.size(), 8) - 8, program.any(), 8);
    case 7: {  // another attempt at a part
      if (number == file.lengths.size()) return;
      std::size_t begin = 0;
      for (std::size_t i = 0; i < number; ++i) begin += file.lengths[i];
      PartsFile other{.cipher = file.cipher, .bytes = {}};
      other.add_part(static_cast<std::uint32_t>(number),
                     decode_frame(std::span(file.bytes).subspan(frame).first<frame_header_bytes>())->of,
                     std::span(plaintext).subspan(begin, file.lengths[number]));
      return put(bytes, frame, other.bytes);
    }
    case 8:
      changed.by_writer = true;
      return replace_index(bytes, file, program);
  }
}

// Reading -------------------------------------------------------------------------------------------

class BytesSink : public Sink {
 public:
  explicit BytesSink(Bytes& to) : to_(to) {}
  void write(std::span<const std::byte> bytes) override { append(to_, bytes); }
  void finish() override {}

 private:
  Bytes& to_;
};

struct How {
  Cipher cipher;
  bool seekable, salvage;
  std::size_t step;  // of reads
};

struct Result {
  Bytes out;
  bool failed = false;
  bool has_index = false;
};

// Reads a piece. Returns whether the source had all of it.
bool fill(Source& source, std::uint64_t offset, std::span<std::byte> in) {
  if (source.parallel_size() > 0) {
    source.read_at(offset, in);
    return true;
  }
  while (!in.empty()) {
    const std::size_t count = source.read(in);
    if (count == 0) return false;
    in = in.subspan(count);
  }
  return true;
}

// What the pipeline does, without threads. Throws AuthError.
void run(OpenStream& stream) {
  const std::unique_ptr<Lane> lane = stream.wrap(make_cpu_lane());
  Bytes in_room(2 * sealed_segment_bytes), out_room(2 * segment_bytes);
  for (std::uint64_t offset = 0;;) {
    const std::uint64_t end = stream.source().message_end(offset);
    if (end == offset) break;
    const auto in = std::span(in_room).first(std::min<std::uint64_t>(in_room.size(), end - offset));
    if (!fill(stream.source(), offset, in)) break;
    const auto out = std::span(out_room).first(stream.session().output_size(in.size(), false));
    lane->start(stream.session().job({offset, in, out}));
    const Outcome outcome =
        stream.session().verify({offset, in, out, offset + in.size() == end}, lane->finish());
    stream.sink().write(out.first(outcome.released));
    if (outcome.error) throw *outcome.error;
    offset += in.size();
  }
  stream.sink().finish();
  if (const auto error = stream.final_error()) throw *error;
}

// Opens the file as the sealed format does.
std::unique_ptr<Session> open(std::span<const std::byte> bytes, const How& how) {
  if (bytes.size() < frame_header_bytes) throw AuthError("truncated");
  const std::optional<FrameHeader> first = decode_frame(bytes.first<frame_header_bytes>());
  if (!how.salvage && !(first && is_part(*first, 0, how.cipher) &&
                        open_frame(frame_secret(how.cipher), *first, {}) != nullptr))
    throw AuthError("part 0 does not open");
  return make_parts_session(frame_secret(how.cipher), first.value_or(FrameHeader{}), frame_header_bytes,
                            how.salvage);
}

Result read(std::span<const std::byte> bytes, const How& how) {
  Result result;
  BytesSink sink(result.out);
  try {
    std::unique_ptr<Session> session = open(bytes, how);
    const std::span<const std::byte> rest = bytes.subspan(frame_header_bytes);
    BytesSource source(rest, how.step);
    const auto parts = session->open_source(
        {.source = source, .size = how.seekable ? std::optional(rest.size()) : std::nullopt});
    result.has_index = parts->index() != nullptr;
    StreamParts of_stream{
        .source = *parts, .sink = sink, .session = std::move(session), .parts = parts.get()};
    if (how.salvage) {
      SalvageStream stream(std::move(of_stream), [](const std::string&) {});
      run(stream);
    } else {
      OpenStream stream(std::move(of_stream));
      run(stream);
    }
  } catch (const AuthError&) {
    result.failed = true;
  }
  return result;
}

// The properties ------------------------------------------------------------------------------------

bool is_prefix(const Bytes& out, const Bytes& plaintext) {
  return out.size() <= plaintext.size() && std::equal(out.begin(), out.end(), plaintext.begin());
}

bool has_only_gaps(const Bytes& out, const Bytes& plaintext) {
  return std::equal(out.begin(), out.end(), plaintext.begin(), plaintext.end(),
                    [](std::byte got, std::byte want) { return got == want || got == std::byte{0}; });
}

void check(const Changed& changed, const PartsFile& file, const Bytes& plaintext, const How& how) {
  const bool same = changed.bytes == file.bytes;
  const Result result = read(changed.bytes, how);
  if (same) require(!result.failed && result.out == plaintext);
  if (!same && !changed.by_writer) require(result.failed);
  if (!how.salvage) return require(is_prefix(result.out, plaintext));
  require(result.out.size() <= changed.bytes.size());
  if (result.has_index && !changed.by_writer) require(has_only_gaps(result.out, plaintext));
}

}  // namespace

void fuzz(std::span<const std::byte> input) {
  Program program(input);
  const Cipher cipher = program.number(2) == 0 ? Cipher::aes_256 : Cipher::kuznyechik;
  const std::size_t count = 1 + program.number(4);
  const bool cut = program.number(2) == 1;
  std::vector<std::size_t> lengths;
  while (lengths.size() < count) lengths.push_back(program.number(max_part));
  const std::size_t step = 1 + program.number(100000);
  const PartsFile file = make_parts(lengths, cut ? static_cast<std::uint32_t>(count) : 0, cipher);
  const Bytes plaintext = test_bytes(file.size());
  Changed changed{file.bytes};
  while (!program.empty() && changed.bytes.size() < max_file) change(changed, file, plaintext, program);

  for (const bool seekable : {false, true})
    for (const bool salvage : {false, true})
      check(changed, file, plaintext, {cipher, seekable, salvage, step});
  const PartsLayout layout =
      read_parts_layout(BytesSource(changed.bytes, 1), 0, changed.bytes.size(), cipher);
  if (changed.bytes == file.bytes)
    require(layout.complete && layout.parts == count && layout.plaintext == plaintext.size());
  require(layout.plaintext <= changed.bytes.size());
}

}  // namespace gpuaes
