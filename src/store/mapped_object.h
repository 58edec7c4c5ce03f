// The file behind a mapping, wherever it can still be reached: a process may see other files than
// we do (a container, a chroot), and what it maps may have been deleted or replaced while it runs.
//
//   for (const WayToObject& way : ways_to({.path = "/app/server", .inode = 4711, .pids = {1234}}))
//     ... way.path: "/proc/1234/root/app/server", "/app/server" ...
//
// The ways are only where to look. Whether the file there is the one that was mapped is for the
// caller to see: by its build id, or where that is not known by its inode (is_file_of).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sonde {

struct MappedObject {
  std::string path;                 // as the mapping says; maybe with " (deleted)"
  uint64_t inode = 0;               // 0: not known
  std::vector<uint32_t> pids = {};  // processes that map it, or did
  uint64_t mount_namespace = 0;     // inode of the processes' mount namespace; 0: not known
};

enum class WayKind : uint8_t {
  kPath,     // by its path, as we see files or as the process does
  kMapping,  // what a living process has mapped: /proc/PID/map_files/RANGE or /proc/PID/exe
};
struct WayToObject {
  WayKind kind;
  std::string path;
};

/// Best first. The process's own view of the files; any other process of its mount namespace; the
/// path as we see it; for deleted and replaced files the mapping itself.
[[nodiscard]] std::vector<WayToObject> ways_to(const MappedObject& object,
                                               const std::string& proc = "/proc");

/// Whether a regular file is at `path`, with this inode where one is given.
[[nodiscard]] bool is_file_of(const std::string& path, uint64_t inode);

/// "/usr/bin/x" of "/usr/bin/x (deleted)".
[[nodiscard]] std::string_view without_deleted(std::string_view path);

/// /proc/PID/root where the process sees other files than we do; empty where it sees the same, or
/// is gone.
[[nodiscard]] std::string foreign_root(const std::string& proc, uint32_t pid);

}  // namespace sonde
