// Build ids of what is mapped on this machine: files (including those visible only in a process's
// mount namespace), the running kernel, its modules, the vdso.
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/file.h"

namespace sonde {

struct HitObject;

/// The path of a mapped object's file, wherever it can be reached (store/mapped_object.h); empty if
/// it cannot be reached or if another file is now at its path.
std::string object_file(const HitObject& object);
/// The same, opened for reading.
Fd open_object(const HitObject& object);
/// Whether the object's path, in our mount namespace, leads to another file or to none.
bool path_will_not_do(const HitObject& object);

/// Raw bytes; nothing if the object has none or cannot be read. "[vdso]" yields the build id of
/// this process's vdso.
std::optional<std::string> object_build_id(const HitObject& object);

/// From /sys/kernel/notes.
std::optional<std::string> kernel_build_id();
/// From /sys/module/NAME/notes.
std::optional<std::string> module_build_id(const std::string& name);

/// This process's vdso, an ELF image in memory; empty if there is none.
Bytes vdso_bytes();

}  // namespace sonde
