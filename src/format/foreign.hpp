// Recognizes the files of other programs, so that an error can say what the input is.
#pragma once

#include "format/header_reader.hpp"

namespace gpuaes {

// Throws AuthError if the input is another program's file or an identity file. Call this before any of the
// input is taken, and only if it cannot be read: it may wait for more bytes than a header has.
void refuse_foreign(HeaderReader& input);

// Throws AuthError because each line of a header ends with CR LF.
[[noreturn]] void refuse_converted_lines();

}  // namespace gpuaes
