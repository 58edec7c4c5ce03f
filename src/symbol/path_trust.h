// Which files of this machine may name code that a recording does not identify by build id: a
// path alone says nothing about another machine's files, nor about another boot's kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde {

class Machine;

enum class PathTrust : uint8_t {
  kAny,           // whatever is at the path, as perf does
  kAnyElsewhere,  // the same, but the processes that run here are not those of the recording
  kSameFile,      // the recording is of this boot: the file with the recorded inode, if it has one
  kNone,          // not known to be of this boot: only what the user points at
};

/// What a recording says of the machine that it was made on: its header sections.
struct RecordedHost {
  std::string_view name;     // HOSTNAME; empty if not recorded
  std::string_view release;  // OSRELEASE
};

/// Whether host name and release are this machine's.
[[nodiscard]] bool is_this_host(const RecordedHost& host);
/// Whether the recording was made during this boot: the host agrees, and so does the address of the
/// kernel's start, which most kernels choose anew at each boot. Where one of the two addresses is
/// unknown (kernel.kptr_restrict), the host decides. A recording that does not name its host (an
/// old pipe's, or that of a recorder that was killed) is known by the address alone. `proc` is
/// where procfs is mounted.
[[nodiscard]] bool is_this_boot(const RecordedHost& host, const Machine& machine,
                                const std::string& proc = "/proc");

}  // namespace sonde
