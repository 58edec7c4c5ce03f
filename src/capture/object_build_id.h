// Build ids of what is mapped on this machine: files (also those that only a process's own mount
// namespace shows), the running kernel, its modules, the vdso.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/bytes.h"

namespace sonde {

/// Where the file that process `pid` maps as `path` can be opened: through /proc/PID/root where the
/// process lives in another mount namespace; else the path itself.
std::string reachable_path(const std::string& path, pid_t pid);

/// Raw bytes; nothing where the file has none or cannot be read. "[vdso]" is that of this process.
std::optional<std::string> object_build_id(const std::string& path, pid_t pid);

/// From /sys/kernel/notes.
std::optional<std::string> kernel_build_id();
/// From /sys/module/NAME/notes.
std::optional<std::string> module_build_id(const std::string& name);

/// This process's vdso, an ELF image in memory; empty where there is none.
Bytes vdso_bytes();

}  // namespace sonde
