// fmt for a program that brings its libraries along. The system has it as a shared library, or as headers,
// with which each file would take three times as long to compile: so this file alone is compiled with all of
// its code, and the others call it. Not inlined, since they call more of it than this.
#include <fmt/format.h>

namespace {

[[gnu::used]] std::string (*const used)(fmt::string_view, fmt::format_args) = &fmt::vformat;

}  // namespace
