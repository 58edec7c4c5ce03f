#include "objects/cache_changes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/files/regular_file.h"
#include "base/output/overwriting.h"
#include "base/text.h"
#include "capture/synthesis/kernel_copy.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "perfdata/read/recording.h"
#include "perfdata/write/recording_place.h"
#include "probe/usdt/sdt_cache_text.h"
#include "replay/session.h"
#include "symbol/dso_symbols.h"
#include "symbol/object_finder.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

/// The debug file as the process sees it, or as we do.
std::string reachable_debug_file(std::string_view build_id, pid_t pid) {
  std::string path = debug_file_of(build_id);
  std::string inside = pid > 0 ? fmt::format("/proc/{}/root{}", pid, path) : path;
  return open_regular(inside) ? inside : std::string();
}

/// What a recording says about its objects; build ids that only its mappings carry come from the
/// session.
Result<std::vector<BuildIdEntry>> named_objects(const std::string& path, bool force, Env& env) {
  OpenOptions open{.force = force, .stdin_fd = env.in_fd};
  Recording recording = TRY(Recording::open(path, open, env.losses));
  if (!recording.features().build_ids.empty()) return recording.features().build_ids;
  SessionOptions options;
  options.open = open;
  options.want_symbols = false;
  options.chains.reset();
  Session session = TRY(Session::open(path, options, env));
  std::vector<BuildIdEntry> entries;
  const DsoTable& dsos = session.machine().dsos();
  for (size_t i = 0; i < dsos.size(); ++i)
    if (const Dso& dso = dsos[DsoId(i)]; !dso.build_id.empty())
      entries.push_back({.build_id = dso.build_id, .path = dso.path});
  return entries;
}

Result<std::string> kernel_build_id_beside(const std::string& proc) {
  std::string root = fs::path(proc).parent_path().string();
  std::string notes = TRY(read_file((root == "/" ? "" : root) + "/sys/kernel/notes"));
  return std::string(build_id_in_notes(as_bytes(notes)));
}

/// Each copy of a kernel's code is a directory named after the time.
std::string name_of_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  ::localtime_r(&now.tv_sec, &local);
  return fmt::format("{:04}{:02}{:02}{:02}{:02}{:02}{:02}", local.tm_year + 1900, local.tm_mon + 1,
                     local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                     now.tv_nsec / 10'000'000);
}

}  // namespace

void CacheChanges::complain(std::string_view text) {
  env_.err.print("{}\n", text);
  all_done_ = false;
}

void CacheChanges::say(std::string_view verb, std::string_view build_id, std::string_view file,
                       bool done) {
  if (options_.verbose > 0)
    env_.err.print("{} {} {}: {}\n", verb, to_hex(build_id), file, done ? "Ok" : "FAIL");
}

Result<CachedObject> CacheChanges::object_of(const std::string& file, TargetFile& opened) const {
  opened = TRY(open_target_file(file, options_.target_pid));
  Result<ElfFile> opened_elf = ElfFile::open(opened.file);
  if (!opened_elf) return fail(ErrorCode::kCorrupt, "{} is not an ELF file", opened.path);
  const ElfFile& elf = *opened_elf;
  if (elf.build_id().empty())
    return fail(ErrorCode::kNotFound,
                "{} has no build id (link it with --build-id), so nothing could tell it from other "
                "builds",
                file);
  CachedObject object{.path = opened.path, .build_id = std::string(elf.build_id())};
  object.file = opened.file;
  object.probes = sdt_cache_text(opened.file, opened.path);
  object.debug_file = reachable_debug_file(object.build_id, options_.target_pid);
  return object;
}

void CacheChanges::add(const std::string& file) {
  TargetFile opened;
  Result<CachedObject> object = object_of(file, opened);
  if (!object && opened.fd.valid() && begins_like_recording(opened.fd.get()))
    return add_objects_of(opened.file);
  if (!object) return complain(fmt::format("Couldn't add {}", object.error().message));
  Result<BuildIdCache::Added> added = cache_.add(*object);
  say("Adding", object->build_id, file, added.has_value());
  if (!added) complain(fmt::format("Couldn't add {}: {}", file, added.error().message));
}

void CacheChanges::add_objects_of(const std::string& recording) {
  Result<std::vector<BuildIdEntry>> named = named_objects(recording, options_.force, env_);
  if (!named) return complain(named.error().message);
  SymbolOptions where;
  where.debuginfod = options_.debuginfod;
  ObjectFinder finder(finder_options(where, env_));
  std::vector<std::string> missing;
  for (const BuildIdEntry& entry : *named) {
    if (cache_.holds(entry.build_id) || !entry.path.starts_with('/')) continue;
    FoundObject found = finder.find({.path = entry.path, .build_id = entry.build_id});
    CachedObject object{.path = entry.path, .build_id = entry.build_id, .file = found.runtime_path};
    object.debug_file = reachable_debug_file(entry.build_id, 0);
    bool added = !object.file.empty();
    if (added) {
      object.probes = sdt_cache_text(object.file, entry.path);
      added = cache_.add(object).has_value();
    }
    say("Adding", entry.build_id, entry.path, added);
    if (!added) missing.push_back(entry.path);
  }
  if (!missing.empty())
    complain(
        fmt::format("Couldn't find {} of its objects: {}", missing.size(), join(missing, ", ")));
}

void CacheChanges::remove(const std::string& file) {
  TargetFile opened;
  Result<CachedObject> object = object_of(file, opened);
  if (!object) return complain(fmt::format("Couldn't remove {}", object.error().message));
  Result<bool> removed = cache_.remove(object->build_id);
  say("Removing", object->build_id, file, removed.value_or(false));
  if (!removed)
    complain(removed.error().message);
  else if (!*removed)
    env_.err.print("{} wasn't in the cache\n", file);
}

void CacheChanges::purge(const std::string& file) {
  Result<TargetFile> opened = open_target_file(file, options_.target_pid);
  // The file may be long gone; then the path is used as is.
  std::error_code error;
  std::string path = opened ? opened->path : fs::absolute(file, error).string();
  if (!opened && file.starts_with('[')) path = file;
  std::vector<std::string> ids = cache_.build_ids_of(path);
  bool done = true;
  for (const std::string& id : ids) {
    Result<bool> removed = cache_.remove(id);
    say("Removing", id, file, removed.value_or(false));
    if (!removed) complain(removed.error().message);
    done &= removed.value_or(false);
  }
  if (ids.empty()) env_.err.print("{} wasn't in the cache\n", file);
  if (options_.verbose > 0)
    env_.err.print("Purging {}: {}\n", file, done && !ids.empty() ? "Ok" : "FAIL");
}

void CacheChanges::purge_all() {
  bool done = true;
  for (const BuildIdCache::Entry& entry : cache_.entries()) {
    Result<bool> removed = cache_.remove(entry.build_id);
    if (!removed) complain(removed.error().message);
    done &= removed.value_or(false);
    if (options_.verbose > 0)
      env_.err.print("Removing {} ({}): {}\n", entry.path, to_hex(entry.build_id),
                     removed.value_or(false) ? "Ok" : "FAIL");
  }
  if (options_.verbose > 0) env_.err.print("Purged all: {}\n", done ? "Ok" : "FAIL");
}

void CacheChanges::update(const std::string& file) {
  TargetFile opened;
  Result<CachedObject> object = object_of(file, opened);
  if (!object) return complain(fmt::format("Couldn't update {}", object.error().message));
  Result<> updated = cache_.replace(*object);
  say("Updating", object->build_id, file, updated.has_value());
  if (!updated) complain(fmt::format("Couldn't update {}: {}", file, updated.error().message));
}

void CacheChanges::add_kcore(const std::string& file) {
  std::string proc = fs::path(file).parent_path().string();
  Result<std::string> build_id = kernel_build_id_beside(proc);
  if (!build_id || build_id->empty())
    return complain(fmt::format("Couldn't add {}: no build id of its kernel is known", file));
  fs::path directory = fs::path(cache_.directory()) / "[kernel.kcore]" / to_hex(*build_id);
  std::string modules = read_file(proc + "/modules").value_or("");
  std::error_code error;
  for (const auto& copy : fs::directory_iterator(directory, error))
    if (read_file((copy.path() / "modules").string()).value_or("\n") == modules) {
      if (options_.verbose > 0) env_.err.print("same kcore found in {}\n", copy.path().string());
      return;
    }
  directory /= name_of_now();
  if (Result<> readable = check_kcore_readable(proc); !readable)
    return complain(fmt::format("Couldn't add {}: {}", file, readable.error().message));
  fs::create_directories(directory.parent_path(), error);
  if (Result<> copied = copy_kernel(directory.string(), proc); !copied) {
    (void)remove_kernel_copy(directory.string());
    return complain(fmt::format("Couldn't add {}: {}", file, copied.error().message));
  }
  if (options_.verbose > 0)
    env_.err.print("kcore added to build-id cache directory {}\n", directory.string());
}

Result<> CacheChanges::print_missing(const std::string& recording) {
  std::set<std::string> printed;
  for (const BuildIdEntry& entry : TRY(named_objects(recording, options_.force, env_)))
    if (!cache_.holds(entry.build_id) && printed.insert(entry.build_id).second)
      env_.out.print("{} {}\n", to_hex(entry.build_id), entry.path);
  return {};
}

}  // namespace sonde
