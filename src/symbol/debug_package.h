// Which packages of this system have the symbols of objects that were installed without them.
#pragma once

#include <string>
#include <vector>

namespace sonde {

/// "apt install g++-12-dbgsym" for objects that Debian packages installed, "dnf debuginfo-install
/// …" on systems that use rpm. Empty if no package is known to have installed any of `paths`. Reads
/// the package manager's file lists, which takes some milliseconds; nothing is run. `root` is for
/// tests.
std::string debug_install_command(const std::vector<std::string>& paths,
                                  const std::string& root = {});

}  // namespace sonde
