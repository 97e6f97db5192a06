#include "format/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "format/parts.hpp"
#include "keys/recipient.hpp"

namespace gpuaes {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view compressed = "it is compressed, not encrypted";

struct Signature {
  std::string_view name, hint;
  std::string_view magic;
  std::size_t offset = 0;
};

constexpr std::string_view unjoined = "join the parts with gpuaes-parts, and decrypt the result";

constexpr std::string_view openpgp_name = "an OpenPGP file", openpgp_hint = "decrypt it with gpg";

// In ascending order of the bytes that must be read.
constexpr std::array signatures{
    Signature{"a gzip file", compressed, "\x1f\x8b\x08"sv},  // the last byte is the only method
    Signature{"a bzip2 file", compressed, "BZh"sv},
    Signature{"a zstd file", compressed, "\x28\xb5\x2f\xfd"sv},
    Signature{"an lz4 file", compressed, "\x04\x22\x4d\x18"sv},
    Signature{"a zip file", "unpack it with unzip", "PK\x03\x04"sv},
    Signature{"a zip file", "unpack it with unzip", "PK\x05\x06"sv},  // without files
    Signature{"an xz file", compressed, "\xfd\x37zXZ\0"sv},
    Signature{"a 7z file", "unpack it with 7z", "7z\xbc\xaf\x27\x1c"sv},
    Signature{"a LUKS volume", "open it with cryptsetup", "LUKS\xba\xbe"sv},
    Signature{"a gpuaes-parts job file", unjoined, "gpuaes-parts/1\n"sv},
    Signature{"an age file", "decrypt it with age", "age-encryption.org/v1\n"sv},
    Signature{openpgp_name, openpgp_hint, "-----BEGIN PGP MESSAGE-----"sv},
    Signature{"an age file", "decrypt it with age", "-----BEGIN AGE ENCRYPTED FILE-----"sv},
    Signature{"a tar archive", "it is not encrypted", "ustar"sv, 257},
};

bool begins_with(HeaderReader& input, const Signature& signature) {
  const std::span<const std::byte> begin = input.peek(signature.offset + signature.magic.size());
  return begin.size() >= signature.offset &&
         std::ranges::equal(begin.subspan(signature.offset), bytes_of(signature.magic));
}

template <unsigned... listed>
constexpr bool is_one_of(unsigned value) {
  return ((value == listed) || ...);
}

// Whether this is the beginning of an encrypted OpenPGP message (RFC 9580): a packet with a session key,
// encrypted with a public key (section 5.1) or a passphrase (section 5.3). There is no magic, so this checks
// the bytes that have few values.
bool is_openpgp(std::span<const std::byte> begin) {
  const auto at = [begin](std::size_t i) {
    return i < begin.size() ? std::to_integer<unsigned>(begin[i]) : 0;
  };
  // RSA, Elgamal, ECDH, X25519 or X448.
  const auto has_public_key = [at](std::size_t body) {
    return at(body) == 3 && is_one_of<1, 2, 16, 18, 25, 26>(at(body + 9));
  };
  // Version, cipher, in version 5 its mode, and how the key is derived.
  const auto has_passphrase = [at](std::size_t body) {
    constexpr unsigned max_cipher = 13;
    const unsigned version = at(body), cipher = at(body + 1);
    return is_one_of<4, 5>(version) && cipher >= 1 && cipher <= max_cipher &&
           is_one_of<0, 1, 3, 4>(at(body + version - 2));
  };
  // The packet's type, in the old and the current form, is followed by its length (section 4.2).
  switch (at(0)) {
    case 0x84:
      return has_public_key(2);
    case 0x85:
      return has_public_key(3);
    case 0xc1:
      return has_public_key(at(1) < 192 ? 2 : 3);
    case 0x8c:
    case 0xc3:
      return has_passphrase(2);
    default:
      return false;
  }
}

// Whether this is the beginning of a part or an index, which gpuaes-parts has not joined yet.
bool is_frame(std::span<const std::byte> begin) {
  if (begin.size() < frame_header_bytes) return false;
  const std::optional<FrameHeader> header = decode_frame(begin.first<frame_header_bytes>());
  return header && header->number <= max_parts && header->of <= max_parts &&
         header->length < max_part_bytes(Cipher::aes_256);
}

[[noreturn]] void refuse(std::string_view name, std::string_view hint) {
  throw AuthError(fmt::format("this is {}, not a gpuaes-stream one", name), std::string(hint));
}

}  // namespace

void refuse_foreign(HeaderReader& input) {
  constexpr std::size_t openpgp_bytes = 16, comment_bytes = 512;
  if (is_openpgp(input.peek(openpgp_bytes))) refuse(openpgp_name, openpgp_hint);
  for (const Signature& each : signatures)
    if (begins_with(input, each)) refuse(each.name, each.hint);
  if (is_frame(input.peek(frame_header_bytes)))
    throw AuthError("the input is a part or an index, not a whole file", std::string(unjoined));
  if (looks_like_identity(first_content_line(as_text(input.peek(comment_bytes)))))
    throw AuthError("the input contains an identity, not an encrypted file",
                    "name the identity file with -k");
}

}  // namespace gpuaes
