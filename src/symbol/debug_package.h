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
/// The line for apt's sources that `command`, as above, needs and that is not there: "deb
/// http://deb.debian.org/debian-debug bookworm-debug main". Empty if it needs none.
std::string missing_package_source(const std::string& command, const std::string& root = {});
/// The distribution's own debuginfod server; elfutils' where none is known.
std::string debuginfod_server(const std::string& root = {});
/// In one line, what brings the symbols of these objects to this machine.
std::string debug_symbols_advice(const std::vector<std::string>& paths,
                                 const std::string& root = {});

}  // namespace sonde
