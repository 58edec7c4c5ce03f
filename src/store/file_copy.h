// Files into a place of their own, whole or not at all: nobody ever sees half of one.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/error.h"

namespace sonde {

/// Writes to a name of its own beside `path`, and renames.
Result<> write_whole(const std::string& path, Bytes bytes);

/// A hard link, or a copy where the file is on another disk, behind /proc, or not ours to link.
Result<> link_or_copy(const std::string& from, const std::string& to);

/// Where a symbolic link leads, also one of /proc ("mnt:[4026531841]"); empty where it cannot be
/// read.
[[nodiscard]] std::string link_target(const std::string& link);

}  // namespace sonde
