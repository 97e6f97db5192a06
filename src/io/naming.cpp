#include "io/naming.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <span>

#include "base/bytes.hpp"
#include "base/libcrypto.hpp"
#include "base/random.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

// Whether a call failed because the file system or a sandbox does not allow it for any file.
bool is_naming_refusal(int error) {
  return error == EINVAL || error == EPERM || error == ENOTSUP || error == ENOSYS;
}

}  // namespace

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

IoError naming_error(const std::string& name, int error) {
  if (!is_naming_refusal(error)) return io_error("cannot create", name, error);
  return IoError(
      fmt::format(
          "the file system of {} supports neither hard links nor renames that refuse to replace a file",
          name),
      "choose a directory on another file system");
}

NameHash hash_of_name(std::string_view name) {
  std::array<std::byte, EVP_MAX_MD_SIZE> whole{};
  check_call(
      EVP_DigestFinal_ex(digest_of(EVP_sha256(), {bytes_of(name)}).get(), octets(whole.data()), nullptr) == 1,
      "EVP_DigestFinal_ex");
  NameHash hash;
  std::copy_n(whole.begin(), hash.size(), hash.begin());
  return hash;
}

std::string shortened_name(int directory, const std::string& name, std::size_t more) {
  // The limit of FAT and exFAT in bytes is that of 255 characters of the maximum size.
  const long limit = fpathconf(directory, _PC_NAME_MAX);
  const auto room =
      static_cast<std::size_t>(limit > 0 ? std::clamp(limit, 64L, long{NAME_MAX}) : NAME_MAX) - more;
  if (name.size() <= room) return name;
  constexpr std::size_t hash_bytes = 8;
  const NameHash hash = hash_of_name(name);
  std::size_t end = room - 1 - 2 * hash_bytes;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(name[at]) & 0xc0) == 0x80;
  };
  for (int back = 0; back < 3 && continues(end); ++back) --end;
  return fmt::format("{}~{}", name.substr(0, end), to_hex(std::span(hash).first<hash_bytes>()));
}

bool is_append_only(int directory) {
  struct statx status {};
  return statx(directory, "", AT_EMPTY_PATH, 0, &status) == 0 &&
         (status.stx_attributes & STATX_ATTR_APPEND) != 0;
}

std::string with_random_letters(std::string text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::array<std::byte, random_letters> random;
  fill_random(random);
  for (const std::byte each : random)
    text.push_back(letters[std::to_integer<std::size_t>(each) % letters.size()]);
  return text;
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  gethostname(name.data(), name.size() - 1);
  if (name[0] == '\0') name[0] = '-';
  std::ranges::replace(name, '/', '-');
  return name.data();
}

bool give_new_name(int directory, const std::string& name, int new_directory, const std::string& new_name) {
  const char *const from = name.c_str(), *const to = new_name.c_str();
  if (renameat2(directory, from, new_directory, to, RENAME_NOREPLACE) == 0) return true;
  if (!is_naming_refusal(errno) && errno != EACCES && errno != EXDEV) return false;
  // NFS has no RENAME_NOREPLACE, and linkat(2) fails if its reply was lost: the number of links shows whether
  // it succeeded.
  struct stat status {};
  const int linked = linkat(directory, from, new_directory, to, 0), error = errno;
  if (linked != 0 && (fstatat(directory, from, &status, 0) != 0 || status.st_nlink != 2))
    return errno = error, false;
  unlinkat(directory, from, 0);
  return true;
}

void sync_directory(const Fd& directory, const std::string& name) {
  while (directory.get() >= 0 && !sync_to_disk(directory.get())) {
    if (errno == EROFS) return;
    if (errno != EINTR)
      throw IoError(io_error("cannot sync the directory of", name, errno).what(),
                    "the file is complete, but its name may not survive a system crash");
  }
}

void sync_folder(const fs::path& directory) {
  sync_directory(Fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), directory / ".");
}

}  // namespace gpuaes
