// A file as a process sees it: in its mount namespace and below its root, with every symbolic link
// followed there (in a container, /usr/lib/x -> /etc/alternatives/x is the container's).
#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"
#include "base/file.h"

namespace sonde {

struct TargetFile {
  Fd fd;             // open for reading
  std::string file;  // opens it again, as long as `fd` lives
  std::string path;  // the process's name for it, links followed
};

/// `pid` 0: as we see it, or as the process does that the path names (base/files/process_root.h).
/// Fails with kNotFound for a missing process or file, and kPermission.
Result<TargetFile> open_target_file(const std::string& path, pid_t pid);

/// The same file by a path without symbolic links ("/proc/PID/root/…" stays there), to be looked up
/// once more by the kernel; `path` itself if there is no such file.
[[nodiscard]] std::string without_links(const std::string& path);

}  // namespace sonde
