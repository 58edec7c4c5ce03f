// Finds the file behind a mapping, if it can still be reached: a process may see other files than
// we do (a container, a chroot), and what it maps may have been deleted or replaced while it runs.
//
//   for (const WayToObject& way : ways_to({.path = "/app/server", .inode = 4711, .pids = {1234}}))
//     ... way.path: "/proc/1234/root/app/server", "/app/server" ...
//
// These are only candidates. The caller must check whether the file there is the one that was
// mapped: by its build id, or if that is unknown by its inode (is_file_of).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

struct MappedObject {
  std::string path;                 // as in the mapping; possibly with " (deleted)"
  uint64_t inode = 0;               // 0: unknown
  std::vector<uint32_t> pids = {};  // processes that map it, or did
  uint64_t mount_namespace = 0;     // inode of the processes' mount namespace; 0: unknown
};

enum class WayKind : uint8_t {
  kPath,     // by its path, in our view of the files or in the process's
  kMapping,  // what a living process has mapped: /proc/PID/map_files/RANGE or /proc/PID/exe
};
struct WayToObject {
  WayKind kind;
  std::string path;
};

/// Best first. The process's own view of the files; any other process of its mount namespace; the
/// path in our view; for deleted and replaced files the mapping itself.
[[nodiscard]] std::vector<WayToObject> ways_to(const MappedObject& object,
                                               const std::string& proc = "/proc");

/// Whether `path` is a regular file, with this inode if one is given.
[[nodiscard]] bool is_file_of(const std::string& path, uint64_t inode);

/// "/usr/bin/x" for "/usr/bin/x (deleted)".
[[nodiscard]] std::string_view without_deleted(std::string_view path);

/// /proc/PID/root if the process sees other files than we do; empty if it sees the same ones, or is
/// gone.
[[nodiscard]] std::string foreign_root(const std::string& proc, uint32_t pid);

}  // namespace sonde
