// The paths at which the files of an object may be found, in search order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "symbol/object_finder.h"

namespace sonde {

struct PlaceToLook {
  ObjectSource source;
  std::string path;
};

/// The object's own file, best first: below symfs; else in the mount namespace or chroot of the
/// process; else the path itself. A path that ends in " (deleted)" is also tried without that
/// suffix, if a build id can confirm that it is the same file.
std::vector<PlaceToLook> object_places(const FinderOptions& options, const ObjectQuery& query);

/// Separate debug files of the object at `own_path` with this build id; `link` is its
/// .gnu_debuglink and may be empty.
std::vector<PlaceToLook> debug_link_places(const FinderOptions& options, std::string_view own_path,
                                           std::string_view link);
std::vector<PlaceToLook> debug_path_places(const FinderOptions& options, std::string_view path);
std::vector<PlaceToLook> debug_build_id_places(const FinderOptions& options,
                                               std::string_view build_id);

/// BUILDID_DIR/.build-id/xx/rest/NAME (and xx/rest itself, which is a file in older caches); empty
/// without a cache or a build id.
std::vector<std::string> cache_paths(const FinderOptions& options, std::string_view build_id,
                                     std::string_view name);

}  // namespace sonde
