// The USDT probes that `buildid-cache --add FILE` found: the build-id cache keeps a file `probes`
// beside each object, with a line "%sdt_PROVIDER:NAME=…" for each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "event/event_catalog.h"

namespace sonde {

struct SdtCacheEntry {
  std::string name;      // "sdt_python:line"
  std::string build_id;  // hexadecimal digits
  std::string object;    // where the object lay when it was added
};

/// All of them, sorted by name, then build id. An object that has several probes of one name is
/// there once. Empty where there is no such cache.
[[nodiscard]] std::vector<SdtCacheEntry> read_sdt_cache(const std::string& buildid_dir);
/// Whether the same object still lies where it lay: what has been built anew since may have other
/// probes, elsewhere.
[[nodiscard]] bool is_still_there(const SdtCacheEntry& entry);
/// As events of a list. Where several objects have a probe of one name, "@object(build id)" tells
/// them apart. `entries` are sorted as read_sdt_cache() gives them.
[[nodiscard]] std::vector<CatalogEvent> sdt_catalog(std::span<const SdtCacheEntry> entries);

}  // namespace sonde
