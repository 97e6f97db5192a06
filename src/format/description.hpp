// What the header of a stream tells whoever has no key, for --info.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cipher/ciphers.hpp"
#include "format/header_reader.hpp"

namespace gpuaes {

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
  std::optional<Cipher> cipher;  // none where the header does not tell
  std::vector<SlotDescription> slots;
  bool segments =
      false;  // whether the body is cut into segments with tags; else it is as long as its plaintext
};

// Each takes the header of its format, all of it and not a byte more. AuthError and IoError as to decrypt.
Description describe_sealed(HeaderReader& input);
Description describe_cobblestone(HeaderReader& input);
Description describe_openssl(HeaderReader& input);
Description describe_raw(HeaderReader& input);  // which has none

}  // namespace gpuaes
