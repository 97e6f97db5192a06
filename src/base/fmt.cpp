// Compiles fmt from its headers for static linking, because some systems do not provide a static library.
// Compiling the headers in every file would be much slower. With -fno-inline, every function that other files
// call is emitted here.
#include <fmt/format.h>

namespace {

[[gnu::used]] std::string (*const used)(fmt::string_view, fmt::format_args) = &fmt::vformat;

}  // namespace
