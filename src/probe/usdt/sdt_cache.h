// The USDT probes found by `buildid-cache --add FILE`: the build-id cache keeps a file `probes`
// next to each object, with a line "%sdt_PROVIDER:NAME=…" for each probe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "event/pmu/event_catalog.h"

namespace sonde {

struct SdtCacheEntry {
  std::string name;      // "sdt_python:line"
  std::string build_id;  // hexadecimal digits
  std::string object;    // the object's path when it was added
};

/// The names in a file `probes`. Other tools and earlier versions wrote what a program called its
/// probes: a name that is not plain, or names no event, is not one.
[[nodiscard]] std::vector<std::string> sdt_cache_names(std::string_view text);
/// All of them, sorted by name, then build id. An object that has several probes of the same name
/// is listed once. Empty if there is no such cache.
[[nodiscard]] std::vector<SdtCacheEntry> read_sdt_cache(const std::string& buildid_dir);
/// Whether the same object is still at its path: one that has been rebuilt may have other probes,
/// at other places.
[[nodiscard]] bool is_still_there(const SdtCacheEntry& entry);
/// As events for a list. If several objects have a probe of the same name, "@object(build id)"
/// distinguishes them. `entries` must be sorted as read_sdt_cache() returns them.
[[nodiscard]] std::vector<CatalogEvent> sdt_catalog(std::span<const SdtCacheEntry> entries);

}  // namespace sonde
