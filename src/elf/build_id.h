// Build ids: the raw bytes that identify a linked object (note NT_GNU_BUILD_ID of owner "GNU").
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace sonde {

/// The build id among a series of ELF notes, e.g. the content of /sys/kernel/notes or of
/// /sys/module/NAME/notes/.note.gnu.build-id; a view of `notes`, empty where there is none.
std::string_view build_id_in_notes(Bytes notes, ByteOrder order = kHostOrder, size_t alignment = 4);

/// The build id of the kernel that runs here; empty where it does not tell.
std::string running_kernel_build_id();

/// Whether two raw build ids name the same object. A recording may have padded a shorter id with
/// zeros to 20 bytes.
bool same_build_id(std::string_view a, std::string_view b);

}  // namespace sonde
