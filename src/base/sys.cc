#include "base/sys.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace sonde {
namespace {

template <typename T, typename Raw>
SysResult<T> checked(Raw result) {
  if (result < 0) return std::unexpected(errno);
  return static_cast<T>(result);
}

class HostSys final : public Sys {
 public:
  SysResult<int> perf_event_open(perf_event_attr* attr, pid_t pid, int cpu, int group_fd,
                                 unsigned long flags) override {
    return checked<int>(::syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags));
  }
  SysResult<int> ioctl(int fd, unsigned long request, uint64_t argument) override {
    return checked<int>(::ioctl(fd, request, argument));
  }
  SysResult<void*> mmap(size_t length, int protection, int flags, int fd, off_t offset) override {
    void* mapped = ::mmap(nullptr, length, protection, flags, fd, offset);
    if (mapped == MAP_FAILED) return std::unexpected(errno);
    return mapped;
  }
  SysResult<int> munmap(void* address, size_t length) override {
    return checked<int>(::munmap(address, length));
  }
  SysResult<int> open(const std::string& path, int flags, mode_t mode) override {
    return checked<int>(::open(path.c_str(), flags | O_CLOEXEC, mode));
  }
  SysResult<size_t> read(int fd, void* buffer, size_t size) override {
    return checked<size_t>(::read(fd, buffer, size));
  }
  SysResult<size_t> write(int fd, const void* buffer, size_t size) override {
    return checked<size_t>(::write(fd, buffer, size));
  }
  SysResult<int> close(int fd) override { return checked<int>(::close(fd)); }
  uid_t geteuid() override { return ::geteuid(); }
};

}  // namespace

Sys& Sys::host() {
  static HostSys sys;
  return sys;
}

}  // namespace sonde
