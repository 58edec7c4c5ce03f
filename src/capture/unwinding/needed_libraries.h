// The libraries that a program or a library says it needs, and the program that loads them: what
// the dynamic linker is about to map.
#pragma once

#include <string>
#include <vector>

namespace sonde {

/// Paths of those that exist, in the order in which the file at `path` names them. They are looked
/// for where the file says ($ORIGIN included), beside it, and in the usual directories; none if it
/// is no ELF file. Those that they need themselves are not included.
[[nodiscard]] std::vector<std::string> needed_libraries(const std::string& path);

}  // namespace sonde
