// Compiles fmt for static linking. Some systems have only its shared library and its headers, and compiling
// the headers in every file would be much slower. Built without inlining, because other files also call
// functions that would otherwise be inlined here.
#include <fmt/format.h>

namespace {

[[gnu::used]] std::string (*const used)(fmt::string_view, fmt::format_args) = &fmt::vformat;

}  // namespace
