// A format is how a stream is framed. With a header and a key it makes a session: one keyed stream, which
// says how the stream's body, all that is behind its header, is cut and what is to be done with each piece.
// Their list, and how to add one, is in formats.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "cipher/ciphers.hpp"
#include "cipher/job.hpp"
#include "format/header_reader.hpp"
#include "keys/key.hpp"
#include "keys/recipient.hpp"

namespace gpuaes {

// One piece of the body, and memory for its output.
struct Piece {
  std::uint64_t offset;           // in the body, a multiple of the session's unit_in
  std::span<const std::byte> in;  // whole units, except at the end of the stream
  std::span<std::byte> out;       // the memory of `in`, or apart from it
  // Offset in the plaintext. Bytes before it were not asked for and may be unverified: messages count the
  // good bytes from here.
  std::uint64_t wanted_from = 0;
};

// Which part of a piece's output may be released.
struct Outcome {
  std::size_t released;            // bytes at its beginning that are good
  std::optional<AuthError> error;  // what is wrong with the next ones
};

class Session {
 public:
  virtual ~Session() = default;

  // What has to be written before the body.
  virtual std::span<const std::byte> header() const { return {}; }

  // The body is cut into units of unit_in() bytes, of which unit_out() become; only the end may be shorter.
  virtual std::size_t unit_in() const = 0;
  virtual std::size_t unit_out() const = 0;

  // Whether a piece's output may take the place of its input.
  bool in_place() const { return unit_in() == unit_out(); }

  // What every job is done with.
  virtual Cipher cipher() const = 0;

  // How many bytes come of `in_size`, which are the last ones of the stream or not.
  virtual std::size_t output_size(std::size_t in_size, bool last) const = 0;

  // The cipher work on a piece; piece.out is output_size() bytes. IoError where the stream has become longer
  // than the format can hold.
  virtual Job job(const Piece& piece) const = 0;

  // Which part of a piece's output may be released. `bad_segment` is the lane's result: the first segment
  // whose tag is wrong.
  virtual Outcome verify(const Piece& piece, [[maybe_unused]] bool last,
                         [[maybe_unused]] std::optional<std::size_t> bad_segment) const {
    return {piece.out.size(), std::nullopt};
  }
};

// What a user gave to open a session with. Each format says with a UsageError what it misses.
struct SessionRequest {
  bool decrypt = false;
  std::optional<Cipher> cipher;
  std::vector<FileKey> keys;           // of key files, in the order in which they were named
  std::vector<Identity> identities;    // to decrypt: those that were named
  std::vector<PublicKey> recipients;   // to encrypt: those that it is for
  std::function<Secret()> passphrase;  // gets it, 1 to 1024 bytes; empty where none was promised
  std::optional<std::string> iv;       // hexadecimal digits
  std::optional<std::string> context;  // hexadecimal digits
  std::optional<std::string> label;    // 1 to 255 bytes of UTF-8
  std::optional<std::uint32_t> iterations;
  HeaderReader* input = nullptr;  // to decrypt: the input, from its first byte on
  std::function<void()> check;    // throws when the program is told to stop; may be empty
};

// What of a request a format can make use of, besides direction, cipher and one key.
struct Accepts {
  bool keys = false;        // more than one
  bool recipients = false;  // and identities
  bool passphrase = false;
  bool iv = false;
  bool context = false;
  bool label = false;
  bool iterations = false;
  bool range = false;
};

// What the header of a stream shows without a key, for --info.
struct ScryptParameters {
  unsigned log2_n, r, p;
};

struct SlotDescription {
  unsigned type;     // as the header has it
  std::string kind;  // in words
  std::optional<ScryptParameters> scrypt;
};

struct Description {
  std::optional<unsigned> version;  // of the format
  std::optional<unsigned> suite;
  std::optional<Cipher> cipher;       // none where the header does not say
  std::string_view cipher_rule = {};  // which it can be then, in words; empty for any that the format has
  std::vector<SlotDescription> slots;
  bool segments =
      false;  // whether the body is cut into segments with tags; else it is as long as its plaintext
};

struct Format {
  std::string_view name;  // as -f takes it
  bool authenticated;
  std::string_view magic;  // what its streams begin with; empty where they begin with nothing of the kind
  Accepts accepts;
  bool (*supports)(Cipher cipher);
  std::unique_ptr<Session> (*open)(SessionRequest request);
  Description (*describe)(HeaderReader& input);
};

// The format of that name. UsageError.
const Format& find_format(std::string_view name);

// The format of what is encrypted where none is named.
const Format& default_format();

// Names of formats, for messages.
std::vector<std::string_view> authenticated_formats();
std::vector<std::string_view> formats_that_accept(bool Accepts::*what);

// The format of the stream that the input begins. AuthError where none is known by its beginning.
const Format& detect_format(HeaderReader& input);

// The same, to decrypt. AuthError also for a format that is not authenticated: such a format must be named,
// or anyone who can change the input could choose it.
const Format& detect_authenticated_format(HeaderReader& input);

// UsageError for what the format has no use for, and for what it misses. To decrypt it reads the header:
// KeyError, AuthError.
std::unique_ptr<Session> open_session(const Format& format, SessionRequest request);

}  // namespace gpuaes
