// Writing anew to a name that may be taken. Like a shell's `>` this replaces the content of an
// ordinary file, since the user named it; but not that of a recording, which nobody could make
// again, and never what is behind another user's symbolic link: who writes as root in a directory
// of others must not be led elsewhere.
//
// What replaces recordings is in perfdata/write/recording_place.h.
#pragma once

#include <sys/types.h>

#include <expected>
#include <string>

#include "base/file.h"

namespace sonde {

/// Whether the file begins as a recording does (perf.data, of either byte order). Does not move its
/// position.
bool begins_like_recording(int fd);

/// A symbolic link that neither this user nor root made.
bool is_others_link(const std::string& path);

/// The file, empty and open for writing, made with `mode` minus the umask if it is not there; or
/// why that cannot be, to be put after the name. Devices and FIFOs are opened as they are.
std::expected<Fd, std::string> overwrite(const std::string& path, mode_t mode);

/// The same for writing after what is there.
std::expected<Fd, std::string> append_to(const std::string& path, mode_t mode);

/// A new file that nobody else has open, made with `mode`. What has the name is removed, never
/// written to: for names of temporary files, which others can foresee.
Fd make_file(const std::string& path, mode_t mode);

}  // namespace sonde
