// --info: prints what an encrypted input reveals without a key.
#pragma once

#include <cstdint>

#include "cli/requests.hpp"
#include "io/fd_source_sink.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

// Prints the contents of the input's header and the sizes derived from the size of the input; for several
// inputs, one line for each. Reads only the header, and throws the same errors for it as decryption.
void print_info(const InfoRequest& request, const Messages& messages);

// Whether an encrypted file has the size that belongs to that many bytes of plaintext. Reads only its header;
// false if that is damaged or in another format than the one named.
bool has_plaintext_size(FdSource& encrypted, const Format* named, std::uint64_t plaintext_bytes);

}  // namespace gpuaes
