#include "capture/synthesis/object_caching.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "capture/synthesis/object_build_id.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "probe/usdt/sdt_cache_text.h"
#include "store/build_id_cache.h"
#include "store/mapped_object.h"
#include "symbol/debuginfod.h"

namespace sonde {
namespace {

bool exists(const std::string& file) {
  std::error_code error;
  return std::filesystem::exists(file, error);
}

bool has_debug_info(const std::string& file) {
  Result<ElfFile> elf = ElfFile::open(file);
  return elf && elf->section(".debug_info") != nullptr;
}

/// A file that is kept open: what is looked at is also what is copied.
struct HeldFile {
  Fd fd;
  std::string path = {};  // empty: none
};

/// The program may have put another file at the object's path since.
HeldFile held_file(const HitObject& object, std::string_view build_id) {
  HeldFile file{.fd = open_object(object), .path = {}};
  if (!file.fd.valid()) return file;
  std::string path = fmt::format("/proc/self/fd/{}", file.fd.get());
  Result<ElfFile> elf = ElfFile::open(path);
  if (elf && same_build_id(elf->build_id(), build_id)) file.path = std::move(path);
  return file;
}

struct FoundFiles {
  HeldFile own, debug;
  CachedObject object;
};

/// The files of an object: those of this machine, and from servers what this machine lacks.
FoundFiles files_of(const BuildIdEntry& entry, const HitObject& hit, bool ask_servers) {
  FoundFiles found;
  CachedObject& object = found.object;
  object.path = std::string(without_deleted(entry.path));
  object.build_id = entry.build_id;
  found.own = held_file(hit, entry.build_id);
  object.file = found.own.path;
  if (object.file.empty() && ask_servers)
    object.file = fetch_from_debuginfod(entry.build_id, DebuginfodFile::kExecutable);
  if (object.file.empty()) return found;
  object.probes = sdt_cache_text(object.file, object.path);
  found.debug = held_file({.path = debug_file_of(entry.build_id), .pid = hit.pid, .pids = hit.pids},
                          entry.build_id);
  object.debug_file = found.debug.path;
  if (object.debug_file.empty() && ask_servers && !has_debug_info(object.file))
    object.debug_file = fetch_from_debuginfod(entry.build_id, DebuginfodFile::kDebugInfo);
  return found;
}

void keep_file(const BuildIdCache& cache, const BuildIdEntry& entry, const HitObject& hit,
               bool ask_servers) {
  bool is_there = cache.holds(entry.build_id);
  // An earlier recording may have kept the object without its debug file.
  if (is_there && (!ask_servers || exists(cache.file(entry.build_id, "debug")))) return;
  FoundFiles found = files_of(entry, hit, ask_servers);
  const CachedObject& object = found.object;
  if (object.file.empty() || (is_there && object.debug_file.empty())) return;
  if (is_there)
    (void)cache.replace(object);
  else
    (void)cache.add(object);
}

void keep(const BuildIdCache& cache, const BuildIdEntry& entry, const HitObject& hit,
          bool ask_servers) {
  if (entry.path.starts_with('/')) return keep_file(cache, entry, hit, ask_servers);
  CachedObject object{.path = entry.path, .build_id = entry.build_id};
  std::string kernel_symbols;
  if (cached_name(entry.path) == "kallsyms") {
    if (cache.holds(entry.build_id)) return;  // the kernel takes a while to write its list
    kernel_symbols = read_file("/proc/kallsyms").value_or("");
    if (kernel_symbols.empty()) return;
    object.content = as_bytes(kernel_symbols);
  } else if (entry.path == "[vdso]") {
    object.content = vdso_bytes();
  } else {
    return;  // "[module]": no file is known
  }
  (void)cache.add(object);
}

}  // namespace

void keep_hit_objects(const BuildIdOptions& wanted, const std::vector<HitObject>& hits,
                      const std::vector<BuildIdEntry>& build_ids) {
  if (wanted.cache_directory.empty()) return;
  BuildIdCache cache(wanted.cache_directory);
  for (const BuildIdEntry& entry : build_ids) {
    auto hit = std::ranges::find_if(hits, [&](const HitObject& object) {
      return object.path == entry.path && (!entry.file.known() || object.file == entry.file);
    });
    if (hit != hits.end()) keep(cache, entry, *hit, wanted.debuginfod);
  }
}

}  // namespace sonde
