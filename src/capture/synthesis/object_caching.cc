#include "capture/synthesis/object_caching.h"

#include <algorithm>

#include "base/file.h"
#include "capture/synthesis/object_build_id.h"
#include "probe/usdt/sdt_cache_text.h"
#include "store/build_id_cache.h"
#include "store/mapped_object.h"

namespace sonde {
namespace {

void keep(const BuildIdCache& cache, const BuildIdEntry& entry, const HitObject& hit) {
  CachedObject object{.path = entry.path, .build_id = entry.build_id};
  std::string kernel_symbols;
  if (cached_name(entry.path) == "kallsyms") {
    if (cache.holds(entry.build_id)) return;  // the kernel takes a while to write its list
    kernel_symbols = read_file("/proc/kallsyms").value_or("");
    if (kernel_symbols.empty()) return;
    object.content = as_bytes(kernel_symbols);
  } else if (entry.path == "[vdso]") {
    object.content = vdso_bytes();
  } else if (entry.path.starts_with('/')) {
    if (cache.holds(entry.build_id)) return;
    object.path = without_deleted(entry.path);
    object.file = object_file(hit);
    if (object.file.empty()) return;
    object.probes = sdt_cache_text(object.file, object.path);
    object.debug_file =
        object_file({.path = debug_file_of(entry.build_id), .pid = hit.pid, .pids = hit.pids});
  } else {
    return;  // "[module]": no file is known
  }
  (void)cache.add(object);
}

}  // namespace

void keep_hit_objects(const std::string& directory, const std::vector<HitObject>& hits,
                      const std::vector<BuildIdEntry>& build_ids) {
  if (directory.empty()) return;
  BuildIdCache cache(directory);
  for (const BuildIdEntry& entry : build_ids) {
    auto hit = std::ranges::find_if(hits, [&](const HitObject& object) {
      return object.path == entry.path && (!entry.file.known() || object.file == entry.file);
    });
    if (hit != hits.end()) keep(cache, entry, *hit);
  }
}

}  // namespace sonde
