// Formats and sessions. A format defines how a stream is laid out. A session is one stream with its key: it
// divides the body, everything after the header, into units and makes the cipher jobs for them.
//
// To add a format:
//   1. Write it in a new file in this folder, which defines its Format, and list the file in CMakeLists.txt.
//      make_ctr_session() and make_segment_session() (sessions.hpp) handle the body.
//   2. Declare the Format below, and add it to the list in formats.cpp. Decryption detects a format only if
//      it is authenticated and begins with a magic of its own.
//   3. Add options that only this format uses to SessionRequest and Accepts, and handle them in
//      open_session().
//   4. Add its name to the text of -f (cli/stream_options.hpp), to the manual page and to the README.
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
#include "io/source_sink.hpp"
#include "keys/kdf.hpp"
#include "keys/keyring.hpp"

namespace gpuaes {

// One piece of the body, and memory for its output.
struct Piece {
  std::uint64_t offset;           // in the body; a multiple of the session's unit_in()
  std::span<const std::byte> in;  // whole units, except at the end of the stream
  std::span<std::byte> out;       // the same memory as `in`, or disjoint from it
  bool last = false;              // whether it ends the stream, or its message if there are several
  // Offset in the plaintext at which the requested range begins. Bytes before it may be unverified, so
  // messages count verified bytes from here.
  std::uint64_t wanted_from = 0;
};

// How much of a piece's output may be released.
struct Outcome {
  std::size_t released;            // bytes, from its beginning
  std::optional<AuthError> error;  // what is wrong with the bytes after them
};

class PartsIndex;
struct PartsDirectory;

// What follows the header of an input to decrypt.
struct RestOfInput {
  Source& source;                             // continues there
  std::optional<std::uint64_t> size{};        // bytes, if they can be read at any offset
  const PartsDirectory* directory = nullptr;  // if its files have the body, not the source
  bool all = true;                            // whether all of the body is going to be read
};

// A body whose parts are not adjacent in the input.
class BodySource : public Source {
 public:
  // The bytes of input between the parts that have been read so far. From any thread.
  virtual std::uint64_t framing_bytes() const = 0;

  // Where the parts are in the body and in the plaintext; null if this is not known until the end.
  virtual const PartsIndex* index() const { return nullptr; }
};

class Session {
 public:
  virtual ~Session() = default;

  // For decryption, once: the source of the body, which uses the session and `rest`. Null if the body is all
  // that follows the header. AuthError if the body is known to be incomplete.
  virtual std::unique_ptr<BodySource> open_source([[maybe_unused]] const RestOfInput& rest) {
    return nullptr;
  }

  // Written before the body; empty for decryption.
  virtual std::span<const std::byte> header() const { return {}; }

  // For decryption: the commitment of the message, or of the index of a file made of parts, once it has been
  // verified. It identifies the stream. Empty before, and if the format has none.
  virtual std::span<const std::byte> commitment() const { return {}; }

  // The body consists of units of unit_in() bytes, and each becomes unit_out() bytes of output. Only the last
  // unit may be shorter.
  virtual std::size_t unit_in() const = 0;
  virtual std::size_t unit_out() const = 0;

  // Whether a piece's output may overwrite its input.
  bool in_place() const { return unit_in() == unit_out(); }

  // The cipher and the rules of every job. If the last segment may be full, a piece that does not end the
  // stream must be followed by at least one byte.
  virtual Cipher cipher() const = 0;
  virtual SegmentRules rules() const { return {}; }

  // The bytes of plaintext (or, for encryption, of output) in the whole units before `offset`.
  virtual std::uint64_t plaintext_before(std::uint64_t offset) const {
    return offset / unit_in() * unit_out();
  }

  // The output size of `in_size` bytes of input. `last` is whether they end the stream.
  virtual std::size_t output_size(std::size_t in_size, bool last) const = 0;

  // The cipher work for a piece, whose `out` must be output_size() bytes long. IoError if the stream is
  // longer than the format allows.
  virtual Job job(const Piece& piece) const = 0;

  // How much of a piece's output may be released. `bad_segment`, from the lane, is the first segment whose
  // tag is wrong; verify() reads no other segment of the input. It opens this segment as the last one if the
  // rules allow that.
  virtual Outcome verify(const Piece& piece, [[maybe_unused]] std::optional<std::size_t> bad_segment) const {
    return {piece.out.size(), std::nullopt};
  }
};

// Forwards to another session.
class SessionWrapper : public Session {
 public:
  explicit SessionWrapper(const Session& whole) : whole_(whole) {}
  std::span<const std::byte> header() const override { return whole_.header(); }
  std::span<const std::byte> commitment() const override { return whole_.commitment(); }
  std::size_t unit_in() const override { return whole_.unit_in(); }
  std::size_t unit_out() const override { return whole_.unit_out(); }
  Cipher cipher() const override { return whole_.cipher(); }
  SegmentRules rules() const override { return whole_.rules(); }
  std::uint64_t plaintext_before(std::uint64_t offset) const override {
    return whole_.plaintext_before(offset);
  }
  std::size_t output_size(std::size_t in_size, bool last) const override {
    return whole_.output_size(in_size, last);
  }
  Job job(const Piece& piece) const override { return whole_.job(piece); }
  Outcome verify(const Piece& piece, std::optional<std::size_t> bad_segment) const override {
    return whole_.verify(piece, bad_segment);
  }

 protected:
  const Session& whole_;
};

// The options and secrets for opening a session. A format throws UsageError if one that it requires is
// missing.
struct SessionRequest {
  bool decrypt = false;
  std::optional<Cipher> cipher;
  Keyring keyring;                     // to open with, or to seal for
  std::string input_name;              // for the question for a passphrase; may be empty
  std::optional<std::string> iv;       // hexadecimal digits
  std::optional<std::string> context;  // hexadecimal digits
  std::optional<std::string> label;    // 1 to 255 bytes of UTF-8
  std::optional<std::uint32_t> iterations;
  // For decryption: receives a description of damage to the header that does not prevent decryption. Damage
  // to part 0 of a file made of parts is then left to the reader of the parts. If empty, all damage is an
  // error.
  std::function<void(const std::string&)> salvage;
  // With `salvage`: whether any segment after the header opens in the session. Empty if the input can be read
  // only once.
  std::function<bool(const Session&)> opens_segment{};
  HeaderReader* input = nullptr;  // for decryption; at the beginning of the input
  bool index_first = false;       // the header is followed by the index of a file made of parts
  bool separate_header = false;   // it is from another file; a mismatch is an error even with `salvage`
  StopCheck check;                // throws if the program is told to stop; may be empty
  std::function<void(const std::string&)> detail{};  // prints a message; may be empty
};

// What a format accepts in a request, in addition to the direction, a cipher and one key.
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

// The following types describe a stream's header without a key, for --info.
struct ScryptParameters {
  unsigned log2_n, r, p;
};

struct SlotDescription {
  std::optional<unsigned> type;  // the number in the header, if it has one
  std::string kind;              // in words
  std::optional<ScryptParameters> scrypt;
  std::string fingerprint = {};  // the beginning of that of an SSH key, as ssh-keygen -l prints it
};

struct Description {
  std::optional<unsigned> version;  // of the format
  std::optional<unsigned> suite;
  std::optional<Cipher> cipher;  // none if the header does not name it
  // If the header does not name a cipher, the possible ciphers in words; empty if it can be any that the
  // format supports.
  std::string_view cipher_rule = {};
  std::string_view slot_noun = "slot";
  std::vector<SlotDescription> slots;
  bool in_parts = false;          // the header ends where part 0 begins
  std::size_t message_bytes = 0;  // at its end, which belong to the body and are kept by rekey()
  // Of the body; none if it is as long as its plaintext.
  std::optional<SegmentRules> segments{};
};

// A header for other keys, in place of the one that was taken from an input; the body stays.
struct NewHeader {
  std::vector<std::byte> bytes;
  std::vector<KeyKind> old_recipients;  // for which the input was encrypted
  std::size_t old_slots, new_slots;     // or stanzas
  std::string_view slot_noun;
  std::string_view copy_warning = {};  // if it is not meant to exist next to the old one
};

struct Format {
  std::string_view name;  // for -f
  bool authenticated;
  std::string_view magic;  // the first bytes of its streams; empty if they are arbitrary
  std::string_view armor;  // the label of its armor; empty if it has none
  Accepts accepts;
  bool (&supports)(Cipher cipher);

  // UsageError if a secret or an option that the format requires is missing or invalid. Takes the header from
  // an input to decrypt: AuthError if it is not in the format, or wrong; KeyError if the keys do not open it.
  std::unique_ptr<Session> (&open)(SessionRequest request);

  // Takes exactly the header from the input. AuthError and IoError as for decryption.
  Description (&describe)(HeaderReader& input);

  // Opens a header as open() does, and makes another one with the same file key. UsageError or
  // UnsuitableInput if the new keys cannot be used. Null if the format has no keys that can be replaced.
  NewHeader (*rekey)(SessionRequest& request, const Keyring& new_keys) = nullptr;

  // Whether a stream may be in CBC mode, which this program cannot decrypt; only its length hints at that.
  bool may_be_cbc = false;
};

extern const Format sealed_format, age_format, cobblestone_format, openssl_format, raw_format;

// The format with that name. UsageError if the name is unknown.
const Format& find_format(std::string_view name);

// The format that encryption uses for these keys if none is named: age for recipients alone, otherwise
// sealed.
const Format& format_to_write(const Keyring& keyring);

std::span<const std::reference_wrapper<const Format>> all_formats();

// Names of formats, for messages and completions.
std::vector<std::string_view> formats_with_armor();
std::vector<std::string_view> format_names();
std::vector<std::string_view> authenticated_formats();
std::vector<std::string_view> formats_that_accept(bool Accepts::*what);

// Detects the format from the first bytes of the input, without taking them. AuthError if no format matches.
const Format& detect_format(HeaderReader& input);

// The same, for decryption. AuthError also if the format is not authenticated: if such a format could be
// detected, anyone who can change the input could choose it.
const Format& detect_authenticated_format(HeaderReader& input);

// For an input, at its beginning, that is not in the format of this name: throws AuthError if it recognizes
// the input.
void refuse_other_format(HeaderReader& input, std::string_view expected);

// Throws AuthError if the input is another program's file or an identity file. Call this before any of the
// input is taken, and only if it cannot be read: it may wait for more bytes than a header has.
void refuse_foreign(HeaderReader& input);

// Throws AuthError because each line of a header ends with CR LF.
[[noreturn]] void refuse_converted_lines();

// For an input whose format was detected: AuthError if it cannot be bound to the label that was given.
void check_label(const Format& format, const std::optional<std::string>& label);

// The named cipher, or AES with the key's length if none is named. UsageError if the key has the wrong
// length.
Cipher choose_cipher(std::optional<Cipher> named, const Key& key);

// Opens a session; for decryption, takes the header from the input. UsageError if the request contains
// something the format does not accept, or lacks something it requires. For decryption also KeyError,
// AuthError and IoError.
std::unique_ptr<Session> open_session(const Format& format, SessionRequest request);

}  // namespace gpuaes
