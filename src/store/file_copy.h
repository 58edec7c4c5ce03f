// Creates files atomically: nobody ever sees half of one.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/error.h"

namespace sonde {

/// Writes to a temporary name beside `path`, then renames.
Result<> write_whole(const std::string& path, Bytes bytes);

/// A hard link, or a copy if the file is on another disk, in /proc, or not ours to link.
Result<> link_or_copy(const std::string& from, const std::string& to);

/// The target of a symbolic link, including those in /proc ("mnt:[4026531841]"); empty if it cannot
/// be read.
[[nodiscard]] std::string link_target(const std::string& link);

}  // namespace sonde
