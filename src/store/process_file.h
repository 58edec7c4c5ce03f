// Files that processes write for profilers: perf maps and jitdumps. Their names are known before,
// in folders where anybody can put something, and what they say is shown, copied and sent on. So
// they are read only if the process that they are about, or somebody who could tell anything
// anyway, wrote them:
//
//  - the last part of the path is no symbolic link, and the file has no second name: both could be
//    another file, which only the reader may read;
//  - it belongs to the process's user, to root, or to us (perf demands one of the last two);
//  - in the process's own mount namespace it is opened with the process's rights
//    (base/files/process_root.h).
#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"
#include "base/file.h"

namespace sonde {

/// `proc` is where procfs is mounted. A file that cannot be believed, or is none, is kCorrupt;
/// "File … not owned by current user or root" is perf's message.
Result<Fd> open_process_file(const std::string& path, pid_t pid);

/// The same for files that the process mapped, as its recording tells: once the process is gone,
/// they may belong to anybody.
Result<Fd> open_mapped_process_file(const std::string& path, pid_t pid,
                                    const std::string& proc = "/proc");

}  // namespace sonde
