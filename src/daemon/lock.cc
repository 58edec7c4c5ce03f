#include "daemon/lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sonde {
namespace {

/// The process that holds the lock; 0 if none does by now.
pid_t holder(int fd) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
}

}  // namespace

Result<DaemonLock> DaemonLock::take(const DaemonPaths& paths) {
  std::string path = paths.lock();
  // By mode and kind of lock like perf, so that both see each other's.
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640));
  if (!fd.valid())
    return fail(ErrorCode::kPermission, "cannot write {}: {}", path, std::strerror(errno));
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(fd.get(), F_SETLK, &lock) != 0)
    return fail(ErrorCode::kFailed,
                "another daemon (pid {}) owns {}; end it with `daemon stop`, or choose another "
                "directory with --base",
                holder(fd.get()), paths.base);
  if (::ftruncate(fd.get(), 0) != 0)
    return fail(ErrorCode::kIo, "cannot write {}: {}", path, std::strerror(errno));
  TRY(write_all(fd.get(), path, as_bytes(std::to_string(::getpid()))));
  return DaemonLock(std::move(fd));
}

}  // namespace sonde
