#include "io/new_file.hpp"

#include "io/access.hpp"
#include "io/file_sink.hpp"

namespace gpuaes {

NewFile::NewFile(const OutputTarget& target, std::span<const std::byte> bytes, Access access, Cancel& cancel)
    : cancel_(cancel), file_(target, {.if_exists = TempFile::IfExists::refuse}) {
  FileSink sink(file_.take_fd(), target.name, cancel);
  const int fd = sink.fd().get();
  if (access == Access::owner)
    make_private(fd, target.name);
  else
    set_mode(fd, file_.new_mode(), target.name);
  sink.write(bytes);
  sink.sync();
  sink.finish();
}

NewFile::~NewFile() {
  if (is_removed_) file_.remove_published();
}

void NewFile::publish() {
  cancel_.check();  // fsync() is mostly uninterruptible
  file_.publish();
  is_removed_ = true;
  file_.sync_directory();
}

void write_new_file(const OutputTarget& target, std::span<const std::byte> bytes, Cancel& cancel) {
  NewFile file(target, bytes, NewFile::Access::owner, cancel);
  file.publish();
  file.keep();
}

}  // namespace gpuaes
