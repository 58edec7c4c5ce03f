// Sys: the seam for system calls that can fail, so that tests can answer in the kernel's place
// (every errno of perf_event_open, a full disk, a vanishing /proc). Each call returns its result or
// an errno.
//
// Only calls whose failure is part of a contract are here. Plain files are read with `read_file`
// and MappedFile.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

struct perf_event_attr;

namespace sonde {

/// A result or an errno value.
template <typename T>
using SysResult = std::expected<T, int>;

class Sys {
 public:
  virtual ~Sys() = default;

  virtual SysResult<int> perf_event_open(perf_event_attr* attr, pid_t pid, int cpu, int group_fd,
                                         unsigned long flags) = 0;
  virtual SysResult<int> ioctl(int fd, unsigned long request, uint64_t argument) = 0;
  virtual SysResult<void*> mmap(size_t length, int protection, int flags, int fd, off_t offset) = 0;
  virtual SysResult<int> munmap(void* address, size_t length) = 0;
  virtual SysResult<int> open(const std::string& path, int flags, mode_t mode) = 0;
  virtual SysResult<size_t> read(int fd, void* buffer, size_t size) = 0;
  virtual SysResult<size_t> write(int fd, const void* buffer, size_t size) = 0;
  virtual SysResult<int> close(int fd) = 0;
  virtual uid_t geteuid() = 0;

  /// This machine's.
  static Sys& host();
};

}  // namespace sonde
