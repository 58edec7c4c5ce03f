// Code that was found rather than named: filters in the current directory, modules beside a script.
// In /tmp anybody may have put it there first; what the user names is the user's own affair.
#pragma once

#include <string>

namespace sonde {

/// Whether nobody but root and the user we run as can have written the file behind a descriptor.
[[nodiscard]] bool is_only_ours(int fd);
/// Whether anybody may put files into a directory, as into /tmp. True if that cannot be known.
[[nodiscard]] bool is_open_to_all(const std::string& directory);

}  // namespace sonde
