#include "store/target_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "store/file_copy.h"

namespace sonde {
namespace {

std::unexpected<Error> cannot(const std::string& what, int error) {
  ErrorCode code =
      error == EACCES || error == EPERM ? ErrorCode::kPermission : ErrorCode::kNotFound;
  return fail(code, "{}: {}", what, std::strerror(error));
}

/// Opens below `root` as if that were "/": neither links nor ".." escape it.
int open_below(int root, const std::string& path) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
}

}  // namespace

Result<TargetFile> open_target_file(const std::string& path, pid_t pid) {
  TargetFile opened;
  if (pid <= 0) {
    opened.fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened.fd.valid()) return cannot(path, errno);
    opened.file = fmt::format("/proc/self/fd/{}", opened.fd.get());
    std::array<char, 4096> resolved{};
    opened.path = ::realpath(path.c_str(), resolved.data()) != nullptr ? resolved.data() : path;
    return opened;
  }
  std::string link = fmt::format("/proc/{}/root", pid);
  Fd root(::open(link.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid())
    return cannot(fmt::format("the files of process {} cannot be reached", pid), errno);
  opened.fd = Fd(open_below(root.get(), path));
  if (!opened.fd.valid()) return cannot(path, errno);
  opened.file = fmt::format("/proc/self/fd/{}", opened.fd.get());
  // The kernel gives the path from the root of the mount namespace; the process may be in a chroot.
  opened.path = link_target(opened.file);
  std::string chroot = link_target(link);
  if (chroot.size() > 1 && opened.path.starts_with(chroot + "/"))
    opened.path.erase(0, chroot.size());
  return opened;
}

}  // namespace sonde
