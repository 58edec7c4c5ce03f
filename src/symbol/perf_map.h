// Perf maps: /tmp/perf-PID.map, in which JIT compilers write "START SIZE NAME" lines (hexadecimal)
// for perf.
//
// Compilers append to the file while they run and reuse freed memory, so where ranges overlap the
// last line wins. Addresses are removed from the names of lambdas (generated_name.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "symbol/symbol_table.h"

namespace sonde {

struct PerfMap {
  SymbolTable table;       // at addresses in the process
  uint64_t bad_lines = 0;  // lines that are not "START SIZE NAME"

  static PerfMap parse(std::string text);
  /// Of a recording that brings its maps along.
  static Result<PerfMap> read(const std::string& path);
  /// Only a file that can be believed to be of this process (store/process_file.h).
  static Result<PerfMap> read_of(pid_t pid, const std::string& path);
};

/// Candidate paths for the map of a process, best first: inside the process's mount namespace under
/// its pid there (/proc/PID/root/tmp/perf-NSPID.map), then our /tmp/perf-PID.map. `proc` is where
/// procfs is mounted; empty: the process is not one of this machine.
std::vector<std::string> perf_map_paths(pid_t pid, const std::string& proc = "/proc",
                                        const std::string& tmp = "/tmp");

/// The pid of a process in its innermost namespace, from the NSpid line of /proc/PID/status.
std::optional<pid_t> innermost_pid(pid_t pid, const std::string& proc = "/proc");

}  // namespace sonde
