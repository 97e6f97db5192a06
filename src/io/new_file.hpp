// New files, such as key files, which are small and must not exist.
#pragma once

#include <cstddef>
#include <span>

#include "io/cancel.hpp"
#include "io/temp_file.hpp"

namespace gpuaes {

// A new file, which appears only when complete.
class NewFile {
 public:
  // Who can open it: only its owner, or anyone to whom the shell's > would give access.
  enum class Access { owner, as_redirected };

  // Writes the file, which has no name yet. FileExists if the target exists, even as a symbolic link.
  // IoError, Cancelled.
  NewFile(const OutputTarget& target, std::span<const std::byte> bytes, Access access, Cancel& cancel);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();  // removes the file, unless keep() was called

  // Gives the file its name. FileExists, IoError, Cancelled.
  void publish();
  void keep() { is_removed_ = false; }

 private:
  Cancel& cancel_;
  TempFile file_;
  bool is_removed_ = false;  // by the destructor
};

// Creates a file that only its owner can open. Throws like the members of NewFile.
void write_new_file(const OutputTarget& target, std::span<const std::byte> bytes, Cancel& cancel);

}  // namespace gpuaes
