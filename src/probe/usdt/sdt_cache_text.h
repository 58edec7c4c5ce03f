// The contents of the file `probes` that the build-id cache keeps next to an object: its USDT
// probes, with a name for `list sdt` and the definition that places them.
//
// Probes whose names are not plain, or whose object's path cannot be in a definition, are left out:
// the cache outlives the program, and other tools read it, too.
//
//   %sdt_python:line=line
//   p:sdt_python/line /usr/bin/python3.11:0x3423c(0x68326c) arg1=%r14:u64 arg2=%ax:u64
#pragma once

#include <string>

namespace sonde {

/// The text for the object in `file`, which processes know as `path`. Empty if it has no probes or
/// is not an object file.
[[nodiscard]] std::string sdt_cache_text(const std::string& file, const std::string& path);

}  // namespace sonde
