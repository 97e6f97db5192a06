// Recognizes the files of other programs, so that an error can say what the input is.

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/unicode.hpp"
#include "format/format.hpp"
#include "format/parts/frames.hpp"
#include "keys/key_file.hpp"

namespace gpuaes {
namespace {

using namespace std::string_view_literals;

constexpr char mark_hint[] =
    "it is not encrypted, or was converted by an editor or by PowerShell's >; copy the original in binary "
    "mode";

constexpr std::string_view compressed = "it is compressed, not encrypted";

struct Signature {
  std::string_view name, hint;
  std::array<std::string_view, 5> magics{};  // with '?' for any byte
};

constexpr std::array signatures{
    Signature{"a gzip file", compressed, {"\x1f\x8b\x08"sv}},  // the last byte is the only method
    Signature{"a zstd file", compressed, {"\x28\xb5\x2f\xfd"sv}},
    // As gpg begins a file for a passphrase, an X25519 key, and RSA keys of usual lengths.
    Signature{"an OpenPGP file",
              "decrypt it with gpg",
              {"-----BEGIN PGP MESSAGE-----"sv, "\x8c\x0d\x04"sv, "\x84\x5e\x03"sv, "\x85\x01?\x03"sv,
               "\x85\x02?\x03"sv}},
    Signature{"an openssl file in Base64", "decode the Base64 first", {"U2FsdGVkX1"sv}},
    Signature{"an HTML page",
              "the download may have failed, with this page as its result",
              {"<!DOCTYPE html"sv, "<!doctype html"sv, "<html"sv, "<HTML"sv}},
};

// Whether this is the beginning of a part or an index, which gpuaes-parts has not joined yet.
bool is_frame(std::span<const std::byte> begin) {
  if (begin.size() < frame_header_bytes) return false;
  const std::optional<FrameHeader> header = decode_frame(begin.first<frame_header_bytes>());
  return header && header->number <= max_parts && header->of <= max_parts &&
         header->length < max_part_bytes(Cipher::aes_256);
}

void refuse_converted(HeaderReader& input) {
  if (input.begins_with("gpuaes-stream/1\r\n")) refuse_converted_lines();
  for (const ByteOrderMark& mark : byte_order_marks)
    if (input.begins_with(mark.before_ascii))  // ciphertext may well begin with the mark alone
      throw AuthError(fmt::format("the input begins with a {} byte order mark", mark.encoding), mark_hint);
}

// A user who decrypts a key file has mixed up two arguments.
struct RefuseKeys {
  void operator()(const RawKey& key) const {
    if (key.is_certain())
      throw AuthError("the input looks like a key, not like an encrypted file", Advice::repeat_key_option);
  }
  void operator()(IdentityLines) const {
    throw AuthError("the input contains an identity, not an encrypted file", Advice::repeat_key_option);
  }
  void operator()(SshPrivateKey) const { (*this)(IdentityLines{}); }
  void operator()(RecipientLines) const {}
  void operator()(EncryptedKeyFile) const {}
  void operator()(const NoKeys&) const {}
};

}  // namespace

void refuse_converted_lines() {
  throw AuthError("the line ends of the input were converted to CR LF", "copy the original in binary mode");
}

void refuse_foreign(HeaderReader& input) {
  constexpr std::size_t comment_bytes = 4096;
  for (const Signature& each : signatures)
    for (const std::string_view magic : each.magics)
      if (input.begins_with(magic))
        throw AuthError(fmt::format("this is {}, not a gpuaes-stream file", each.name),
                        std::string(each.hint));
  refuse_converted(input);
  if (is_frame(input.peek(frame_header_bytes)))
    throw AuthError("the input is a part or an index, not a whole file",
                    "join the parts with gpuaes-parts, and decrypt the result");
  std::visit(RefuseKeys{}, classify_key_file(input.peek(comment_bytes), "the input"));
}

}  // namespace gpuaes
