// Build ids: the raw bytes that identify a linked object (note NT_GNU_BUILD_ID of owner "GNU").
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace sonde {

/// The build id among a series of ELF notes, e.g. the content of /sys/kernel/notes or of
/// /sys/module/NAME/notes/.note.gnu.build-id; a view of `notes`, empty if there is none.
std::string_view build_id_in_notes(Bytes notes, ByteOrder order = kHostOrder, size_t alignment = 4);

/// The build id of the running kernel; empty if the kernel does not provide it.
std::string running_kernel_build_id();

/// Whether two raw build ids identify the same object. A recording may have padded a shorter id to
/// 20 bytes with zeros.
bool same_build_id(std::string_view a, std::string_view b);

}  // namespace sonde
