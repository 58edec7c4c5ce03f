#include "base/files/regular_file.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files/process_root.h"

namespace sonde {
namespace {

std::string_view kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "something else";
}

bool is_null_device(const struct stat& status) {
  constexpr unsigned kMemoryDevices = 1, kNull = 3;
  return S_ISCHR(status.st_mode) && gnu_dev_major(status.st_rdev) == kMemoryDevices &&
         gnu_dev_minor(status.st_rdev) == kNull;
}

}  // namespace

ErrorCode error_code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ESRCH:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
      return ErrorCode::kPermission;
    default:
      return ErrorCode::kIo;
  }
}

std::unexpected<Error> failed_to_open(const std::string& path, int error) {
  return fail(error_code_of(error), "failed to open {}: {}", path, std::strerror(error));
}

Result<> check_regular(const struct stat& status, const std::string& path) {
  if (S_ISREG(status.st_mode) || is_null_device(status)) return {};
  if (S_ISDIR(status.st_mode))
    return fail(ErrorCode::kIo, "failed to read {}: {}", path, std::strerror(EISDIR));
  return fail(ErrorCode::kCorrupt, "cannot read {}: it is {}, not a regular file", path,
              kind_of(status.st_mode));
}

Result<Fd> open_regular(const std::string& path, LastLink last) {
  if (auto inside = path_in_root(path)) {
    ProcessRoot root = TRY(ProcessRoot::open(inside->pid));
    return root.open_regular(inside->path, last);
  }
  bool follow = last == LastLink::kFollow;
  struct stat status{};
  // Even to open a device can have an effect.
  if (::fstatat(AT_FDCWD, path.c_str(), &status, follow ? 0 : AT_SYMLINK_NOFOLLOW) != 0)
    return failed_to_open(path, errno);
  TRY(check_regular(status, path));
  int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW);
  Fd fd(::open(path.c_str(), flags));
  // It may be another one by now.
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0) return failed_to_open(path, errno);
  TRY(check_regular(status, path));
  return fd;
}

std::optional<struct stat> status_of_regular(const std::string& path) {
  struct stat status{};
  if (auto inside = path_in_root(path)) {
    Result<ProcessRoot> root = ProcessRoot::open(inside->pid);
    if (!root) return std::nullopt;
    Result<struct stat> found = root->status_of_regular(inside->path);
    if (!found) return std::nullopt;
    return *found;
  }
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status;
}

Result<Fd> open_stream(const std::string& path) {
  if (path_in_root(path)) return open_regular(path);
  Fd fd(::open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid()) return failed_to_open(path, errno);
  return fd;
}

Result<std::string> read_stream(const std::string& path, size_t limit) {
  Fd fd = TRY(open_stream(path));
  return read_all(fd.get(), path, limit);
}

}  // namespace sonde
