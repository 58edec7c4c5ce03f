// A program's map as text, for those who look into programs: numbers of keys in decimal, values in
// hexadecimal.
//
//   [57] = 0x1,
//   [62] = 0x0000000000000003 0x0000000000000000,     per-CPU: one value per CPU
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/sink.h"

struct bpf_object;

namespace sonde {

/// The map of this name; kNotFound if there is none. The descriptor belongs to the object.
Result<int> find_map(const bpf_object* object, std::string_view name);

/// Writes the entries of a map, a line each; an array's entries that are all zero are left out.
/// kUnsupported for maps whose entries the kernel does not list (rings, task storage).
Result<> write_map(int map, Sink& out);

}  // namespace sonde
