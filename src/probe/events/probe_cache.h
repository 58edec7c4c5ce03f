// The definitions that the build-id cache keeps of an object's probes, in a file `probes` next to
// it, which perf and sonde share. Two kinds are in one file:
//
//   #probe_app:mine=po_leaf x s:string                                 made by the user (--cache)
//   p:probe_app/mine /app:0x1159 x=%di:s64 s_string=+0(%si):string
//   %sdt_python:line=line                                              a USDT probe of the object
//   p:sdt_python/line /usr/bin/python3.11:0x3423c(0x68326c) arg1=%r14:u64
//
// This is for the first kind; sdt_cache.h reads the second.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "probe/events/probe_names.h"
#include "probe/name_filter.h"

namespace sonde {

struct CachedProbe {
  std::string request;  // as the user wrote it: "probe_app:mine=po_leaf x s:string"
  TracepointName event;
  ProbePlace place;
  std::string build_id;  // hexadecimal digits
  /// Whether the object at its path is still the one that the place was found in.
  [[nodiscard]] bool is_current() const;
};

/// All of them; one that has several places is there several times.
[[nodiscard]] std::vector<CachedProbe> read_probe_cache(const std::string& buildid_dir);

/// The text of a `probes` file with one request's probes instead of those it had under the same
/// request.
[[nodiscard]] std::string with_cached_probe(std::string_view text, std::string_view request,
                                            const std::vector<NamedProbe>& probes);
/// Keeps a request and its probes; the object is added to the cache if it is not there. kNotFound
/// if there is no cache, kUnsupported if the object has no build id.
Result<> keep_in_probe_cache(const std::string& buildid_dir, const RequestedProbe& request,
                             const std::vector<NamedProbe>& probes);

/// `-l --cache`: "PATH (BUILD ID):", then the requests and the names of its USDT probes.
[[nodiscard]] std::string probe_cache_text(const std::string& buildid_dir,
                                           const NameFilter& filter);
/// Removes the entries whose event the filter selects, and returns their requests.
Result<std::vector<std::string>> remove_from_probe_cache(const std::string& buildid_dir,
                                                         const NameFilter& filter);

}  // namespace sonde
