// The libraries that a program will be linked with at startup, searched for as the dynamic linker
// does: in the object's run path, the linker's cache (/etc/ld.so.cache) and the standard
// directories.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace sonde {

/// ld.so.cache in glibc's format 1.1: paths by the name that objects ask for. A name may have
/// several paths, for different architectures. Empty if the bytes are something else.
using LibraryCache = std::multimap<std::string, std::string, std::less<>>;
[[nodiscard]] LibraryCache parse_library_cache(Bytes bytes);

/// Paths of the libraries that `program` needs, and that those need, each once. Libraries that
/// cannot be found are left out.
[[nodiscard]] std::vector<std::string> libraries_of(const std::string& program,
                                                    const LibraryCache& cache);

}  // namespace sonde
