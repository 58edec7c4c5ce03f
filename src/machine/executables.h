// Which program a task runs: the object of the executable of its process.
//
// No record says so, but the kernel maps an executable below the libraries of its process, whether
// it is at a fixed address or not: it is the lowest file with code, libraries (".so") left out.
#pragma once

#include <vector>

#include "machine/machine.h"

namespace sonde {

/// Threads of this name run this executable.
struct NamedExecutable {
  StringId comm;
  DsoId object;
  auto operator<=>(const NamedExecutable&) const = default;
};

/// Of all threads of the host, at all times; each pair once. A name may have several executables,
/// and an executable several names.
[[nodiscard]] std::vector<NamedExecutable> executables_of(const Machine& machine);

}  // namespace sonde
