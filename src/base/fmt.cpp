// fmt for programs that link their libraries statically. Some systems provide it only as a shared library and
// as headers. Compiling the headers in every file would be much slower, so only this file does. Nothing is
// inlined here, because other files call the same functions.
#include <fmt/format.h>

namespace {

[[gnu::used]] std::string (*const used)(fmt::string_view, fmt::format_args) = &fmt::vformat;

}  // namespace
