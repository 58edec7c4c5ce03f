// The files of another process, as that process could open them: in its mount namespace, below its
// root, and with the rights of its owner.
//
// Whoever owns a process also decides what is in its root: in a mount namespace of his own, any
// file and folder of the host can be made to appear under any name, by links and by bind mounts.
// Root would read, or write, through all of these. Therefore:
//
//  - symbolic links and ".." are followed below that root, and never lead out of it; links like
//    those of /proc, which lead anywhere, are not followed;
//  - if root looks for the files of somebody else's process, the kernel decides as if that user
//    did.
//
//   ProcessRoot root = TRY(ProcessRoot::open(4711));
//   Fd map = TRY(root.open_regular("/tmp/perf-1.map"));
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/files/regular_file.h"

namespace sonde {

/// With whose rights a process opens files.
struct ProcessOwner {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups = {};
};

/// From /proc/PID/status; nothing if the process is gone.
[[nodiscard]] std::optional<ProcessOwner> owner_of(pid_t pid, const std::string& proc = "/proc");

/// While this object lives, its thread opens, creates and removes files with the rights of `owner`.
/// Only root can give up its rights: for everybody else, and for processes of root, nothing
/// changes.
class RightsOf {
 public:
  explicit RightsOf(const ProcessOwner& owner);
  ~RightsOf();
  RightsOf(const RightsOf&) = delete;
  RightsOf& operator=(const RightsOf&) = delete;
  /// Whether the rights are what they should be; if not, nothing may be opened.
  [[nodiscard]] bool valid() const { return valid_; }

 private:
  bool changed_ = false, valid_ = true;
  int dumpable_ = 0, death_signal_ = 0;
  int gid_before_ = 0;
  std::vector<gid_t> groups_before_;
};

class ProcessRoot {
 public:
  /// Fails with kNotFound if there is no such process, and kPermission.
  static Result<ProcessRoot> open(pid_t pid);
  /// A directory that the user names as the root of a guest, to be read with our own rights.
  static Result<ProcessRoot> at(const std::string& directory);

  /// Names in errors are those that we see: "/proc/PID/root/…".
  [[nodiscard]] Result<Fd> open_regular(const std::string& path,
                                        LastLink last = LastLink::kFollow) const;
  [[nodiscard]] Result<struct stat> status_of_regular(const std::string& path) const;
  /// To be used with openat and the like, by somebody who has RightsOf the owner.
  [[nodiscard]] Result<Fd> open_directory(const std::string& path) const;
  [[nodiscard]] const ProcessOwner& owner() const { return owner_; }
  /// Our name for a file or directory after all links on its way; empty if it is not there.
  [[nodiscard]] std::string path_of(const std::string& path) const;
  /// The process's own name for an open file.
  [[nodiscard]] std::string name_of(const Fd& file) const;

 private:
  /// Without reading permission: what there is.
  [[nodiscard]] Result<Fd> find(const std::string& path, int flags) const;
  [[nodiscard]] std::string seen_name(const std::string& path) const;

  std::string seen_;  // the root, as we see it
  Fd root_;
  ProcessOwner owner_;
};

struct PathInRoot {
  pid_t pid;
  std::string path;
};
/// "/proc/4711/root/etc/passwd" and "/proc/4711/task/4712/root/etc/passwd" are files of others.
[[nodiscard]] std::optional<PathInRoot> path_in_root(const std::string& path);

/// The path of a file in a directory that stands for the root of another machine (--symfs), whose
/// links are followed below that directory: "sysroot" and "/usr/bin/vi" may be
/// "sysroot/etc/alternatives/vi". Simply put together if there is no such file below it: the user
/// may have made it of links to other directories. An empty root is ours.
[[nodiscard]] std::string path_below(const std::string& root, std::string_view path);

/// The folder of a file that was found, to put another one beside it.
Result<Fd> open_directory_of(const std::string& path);

}  // namespace sonde
