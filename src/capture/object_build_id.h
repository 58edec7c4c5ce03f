// Build ids of what is mapped on this machine: files (also those that only a process's own mount
// namespace shows), the running kernel, its modules, the vdso.
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/file.h"

namespace sonde {

struct HitObject;

/// The file of a mapped object, wherever it can be reached (store/mapped_object.h); empty where it
/// cannot, or where another file is at its path now.
std::string object_file(const HitObject& object);
/// The same, opened for reading.
Fd open_object(const HitObject& object);
/// Whether the object's path as we see it leads to another file, or to none.
bool path_will_not_do(const HitObject& object);

/// Raw bytes; nothing where the object has none or cannot be read. "[vdso]" is that of this
/// process.
std::optional<std::string> object_build_id(const HitObject& object);

/// From /sys/kernel/notes.
std::optional<std::string> kernel_build_id();
/// From /sys/module/NAME/notes.
std::optional<std::string> module_build_id(const std::string& name);

/// This process's vdso, an ELF image in memory; empty where there is none.
Bytes vdso_bytes();

}  // namespace sonde
