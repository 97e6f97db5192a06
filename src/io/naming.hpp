// The names of files: new ones, how a file gets its name, and how the name survives a system crash.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "io/fd.hpp"

namespace gpuaes {

// The directory of a file: . if the path does not contain one.
std::filesystem::path directory_of(const std::filesystem::path& path);

// Whether files in this directory cannot be renamed or removed.
bool is_append_only(int directory);

// `text` and that many random letters, which no other process is likely to choose.
inline constexpr std::size_t random_letters = 6;
std::string with_random_letters(std::string text);

// The name of this host, for the names and the contents of files.
std::string host_name();

// Renames a file without replacing another, by a link where such renames are refused. False with errno if
// that fails: EEXIST if the new name exists.
bool give_new_name(int directory, const std::string& name, int new_directory, const std::string& new_name);

// The error if give_new_name() failed with the errno value `error`, which is not EEXIST. `name` is the new
// name, for messages.
IoError naming_error(const std::string& name, int error);

// A hash of a name, which no other name is likely to have.
using NameHash = std::array<std::byte, 16>;
NameHash hash_of_name(std::string_view name);

// `name` if it and `more` further bytes fit into a file name in this directory. Otherwise as much of it as
// fits, cut between UTF-8 characters, and a hash of all of it.
std::string shortened_name(int directory, const std::string& name, std::size_t more);

// Makes new names in a directory survive a system crash, if the file system allows it. Does nothing if the
// descriptor is -1. `name` is that of a file in the directory. IoError.
void sync_directory(const Fd& directory, const std::string& name);

// The same for a directory that is not open. Does nothing if it cannot be opened.
void sync_folder(const std::filesystem::path& directory);

}  // namespace gpuaes
