#include "symbol/object_finder.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/files/process_root.h"
#include "base/files/regular_file.h"
#include "base/text.h"
#include "elf/build_id.h"
#include "store/mapped_object.h"
#include "symbol/debuginfod.h"
#include "symbol/object_paths.h"
#include "symbol/own_vdso.h"

namespace sonde {
namespace {

using Verdict = Candidate::Verdict;

bool is_regular_file(const std::string& path) {
  return status_of_regular(path).has_value();
}

/// Whether the file contains the code itself: separate debug files keep only the headers of code
/// sections.
bool has_code(const ElfFile& file) {
  return std::ranges::any_of(file.sections(),
                             [](const ElfSection& section) {
                               return section.type != SHT_NOBITS &&
                                      (section.flags & SHF_EXECINSTR) != 0;
                             }) ||
         (file.sections().empty() && !file.segments().segments().empty());
}

bool has_dwarf(const ElfFile& file) {
  for (const char* name : {".debug_info", ".zdebug_info"})
    if (const ElfSection* section = file.section(name))
      if (!file.content(*section).empty()) return true;
  return false;
}

std::string_view words(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSymbols:
      return "used for its symbols";
    case Verdict::kRuntime:
      return "used; has no .symtab";
    case Verdict::kNotThere:
      return "not there";
    case Verdict::kNotElf:
      return "cannot be read";
    case Verdict::kNoBuildId:
      return "refused: has no build id, but the recording has one";
    case Verdict::kBuildIdDiffers:
      return "refused: its build id is not the recorded one";
    case Verdict::kOtherFile:
      return "refused: not the file that was mapped";
    case Verdict::kNothingNew:
      return "adds nothing";
  }
  return {};
}

/// Goes through candidates and keeps what is useful in them.
class Search {
 public:
  explicit Search(std::string_view build_id, uint64_t inode = 0)
      : build_id_(build_id), inode_(inode) {}

  [[nodiscard]] bool done() const { return found_.symbols && (found_.runtime || symbols_ran_); }
  [[nodiscard]] bool lacks_symbols() const { return !found_.symbols; }
  [[nodiscard]] bool lacks_all() const { return !found_.usable(); }

  void look(const PlaceToLook& place) {
    if (done()) return;
    bool seen = std::ranges::any_of(
        found_.tried, [&](const Candidate& tried) { return tried.path == place.path; });
    if (seen) return;
    Candidate& candidate = found_.tried.emplace_back(
        Candidate{place.source, place.path, Verdict::kNotThere, std::string()});
    if (!is_regular_file(place.path)) return;
    if (inode_ != 0 && !is_file_of(place.path, inode_)) {
      candidate.verdict = Verdict::kOtherFile;
      return;
    }
    auto file = ElfFile::open(place.path);
    if (!file) {
      candidate.verdict = Verdict::kNotElf;
      candidate.detail = file.error().message;
      return;
    }
    judge(candidate, std::move(*file));
  }
  void look(const std::vector<PlaceToLook>& places) {
    for (const PlaceToLook& place : places) look(place);
  }
  /// Considers a file that is already open.
  void take(const PlaceToLook& place, ElfFile file) {
    if (done()) return;
    judge(found_.tried.emplace_back(
              Candidate{place.source, place.path, Verdict::kNotThere, std::string()}),
          std::move(file));
  }

  FoundObject finish() && { return std::move(found_); }

 private:
  void judge(Candidate& candidate, ElfFile file) {
    candidate.verdict = Verdict::kNothingNew;
    if (!build_id_.empty() && !same_build_id(file.build_id(), build_id_)) {
      candidate.verdict = file.build_id().empty() ? Verdict::kNoBuildId : Verdict::kBuildIdDiffers;
      candidate.detail = to_hex(file.build_id());
      return;
    }
    bool ran = has_code(file);
    bool first_symbols = !found_.symbols && file.has_symbols(SymbolSection::kSymtab);
    bool first_runtime = !found_.runtime && !symbols_ran_ && ran;
    if (first_runtime) found_.runtime_path = candidate.path;
    if (first_symbols) {
      candidate.verdict = Verdict::kSymbols;
      found_.symbols_path = candidate.path;
      found_.source = candidate.source;
      symbols_ran_ = first_runtime;
      found_.symbols = std::move(file);
    } else if (first_runtime) {
      candidate.verdict = Verdict::kRuntime;
      if (!found_.symbols) {
        found_.symbols_path = candidate.path;
        found_.source = candidate.source;
      }
      found_.runtime = std::move(file);
    }
  }

  std::string build_id_;
  uint64_t inode_;            // required of the object's own file; 0: any
  bool symbols_ran_ = false;  // `symbols` is also the runtime file
  FoundObject found_;
};

/// 0 if the build id decides, or if nothing can.
uint64_t wanted_inode(const FinderOptions& options, const ObjectQuery& query) {
  bool matters = query.by_inode || (options.path_trust == PathTrust::kSameFile &&
                                    options.symfs.empty() && options.bundle == nullptr);
  return query.build_id.empty() && matters ? query.inode : 0;
}

/// What the search needs to know about the object's own file first. It is judged later, in its
/// turn.
struct OwnFile {
  std::string path;
  std::string debug_link;
  std::string build_id;
};

OwnFile read_own_file(const std::vector<PlaceToLook>& places, const FinderOptions& options,
                      const ObjectQuery& query) {
  std::string_view build_id = query.build_id;
  for (const PlaceToLook& place : places) {
    if (!is_regular_file(place.path) || !is_file_of(place.path, wanted_inode(options, query)))
      continue;
    auto file = ElfFile::open(place.path);
    if (!file || (!build_id.empty() && !same_build_id(file->build_id(), build_id))) continue;
    OwnFile own{place.path, {}, std::string(file->build_id())};
    if (auto link = file->debug_link(); link && link->name.find('/') == std::string_view::npos)
      own.debug_link = link->name;
    return own;
  }
  return {};
}

std::vector<PlaceToLook> as_places(ObjectSource source, const std::vector<std::string>& paths) {
  std::vector<PlaceToLook> places;
  for (const std::string& path : paths) places.push_back({source, path});
  return places;
}

}  // namespace

char symtab_origin(ObjectSource source) {
  switch (source) {
    case ObjectSource::kDebugLink:
      return 'l';
    case ObjectSource::kBuildIdCache:
      return 'B';
    case ObjectSource::kBuildIdCacheDebug:
    case ObjectSource::kDebuginfod:
      return 'D';
    case ObjectSource::kFedoraDebug:
      return 'f';
    case ObjectSource::kUbuntuDebug:
      return 'u';
    case ObjectSource::kBuildIdDebug:
      return 'b';
    case ObjectSource::kOpenEmbeddedDebug:
      return 'o';
    case ObjectSource::kMixedUpUbuntuDebug:
      return 'x';
    case ObjectSource::kVmlinux:
      return 'v';
    case ObjectSource::kSystemPath:
    case ObjectSource::kProcessMemory:
    case ObjectSource::kMappedFile:
      return 'd';
  }
  return '!';
}

std::string_view describe(ObjectSource source) {
  switch (source) {
    case ObjectSource::kDebugLink:
      return "debug link";
    case ObjectSource::kBuildIdCache:
      return "build-id cache";
    case ObjectSource::kBuildIdCacheDebug:
      return "build-id cache, debug";
    case ObjectSource::kFedoraDebug:
    case ObjectSource::kUbuntuDebug:
    case ObjectSource::kMixedUpUbuntuDebug:
    case ObjectSource::kOpenEmbeddedDebug:
      return "debug file by path";
    case ObjectSource::kBuildIdDebug:
      return "debug file by build id";
    case ObjectSource::kSystemPath:
      return "object";
    case ObjectSource::kProcessMemory:
      return "own vdso";
    case ObjectSource::kMappedFile:
      return "mapped by the process";
    case ObjectSource::kVmlinux:
      return "kernel image";
    case ObjectSource::kDebuginfod:
      return "debuginfod";
  }
  return {};
}

bool FoundObject::is_replaced() const {
  return std::ranges::any_of(tried, [](const Candidate& candidate) {
    return candidate.verdict == Verdict::kBuildIdDiffers ||
           candidate.verdict == Verdict::kNoBuildId || candidate.verdict == Verdict::kOtherFile;
  });
}

std::string FoundObject::explain() const {
  std::string text;
  for (const Candidate& candidate : tried) {
    text += fmt::format("{} ({}): {}", candidate.path, describe(candidate.source),
                        words(candidate.verdict));
    if (!candidate.detail.empty()) text += fmt::format(" ({})", candidate.detail);
    text += '\n';
  }
  return text;
}

SymbolTable FoundObject::load_symbols(const ElfSymbolOptions& options) {
  CHECK(usable());
  if (!symbols) return load_elf_symbols(std::move(*runtime), std::nullopt, options);
  return load_elf_symbols(std::move(*symbols), std::move(runtime), options);
}

ObjectQuery query_of(const Dso& dso) {
  // At a guest's path this machine has a file of its own: only a build id makes it the same.
  bool is_known = !dso.is_guest || !dso.build_id.empty();
  return {.path = is_known ? dso.path : std::string(),
          .build_id = dso.build_id,
          .pids = dso.pids,
          .mount_namespace = dso.mount_namespace,
          .inode = dso.file.inode,
          .by_inode = dso.is_ambiguous};
}

FoundObject ObjectFinder::find(const ObjectQuery& query) const {
  if (query.path == "[vdso]") {
    Search search(query.build_id);
    search.look(
        as_places(ObjectSource::kBuildIdCache, cache_paths(options_, query.build_id, "vdso")));
    bool may_be_ours = !query.build_id.empty() || options_.path_trust != PathTrust::kNone;
    if (auto vdso = may_be_ours ? own_vdso() : fail(ErrorCode::kNotFound, ""))
      search.take({ObjectSource::kProcessMemory, "[vdso]"}, std::move(*vdso));
    return std::move(search).finish();
  }
  std::vector<PlaceToLook> own_places = object_places(options_, query);
  OwnFile own = read_own_file(own_places, options_, query);
  // Without a recorded build id, the object's own still says which debug file belongs to it.
  std::string_view build_id = query.build_id.empty() ? own.build_id : query.build_id;
  Search search(build_id);
  // A debug link without a build id to confirm it could lead to any file of that name.
  if (!build_id.empty()) search.look(debug_link_places(options_, own.path, own.debug_link));
  search.look(as_places(ObjectSource::kBuildIdCache, cache_paths(options_, build_id, "elf")));
  search.look(
      as_places(ObjectSource::kBuildIdCacheDebug, cache_paths(options_, build_id, "debug")));
  if (!build_id.empty()) {
    std::vector<PlaceToLook> by_path = debug_path_places(options_, query.path);
    for (size_t i = 0; i < by_path.size() && i < 2; ++i) search.look(by_path[i]);
    search.look(debug_build_id_places(options_, build_id));
    search.look(own_places);
    for (size_t i = 2; i < by_path.size(); ++i) search.look(by_path[i]);
  } else {
    // Only the inode distinguishes files of the same path, so only the best of them counts.
    Search by_file({}, wanted_inode(options_, query));
    by_file.look(own.path.empty() ? own_places
                                  : std::vector{PlaceToLook{ObjectSource::kSystemPath, own.path}});
    return std::move(by_file).finish();
  }
  if (options_.debuginfod && !build_id.empty()) {
    auto fetch = [&](DebuginfodFile what) {
      search.look({ObjectSource::kDebuginfod, fetch_from_debuginfod(build_id, what)});
    };
    if (search.lacks_all()) fetch(DebuginfodFile::kExecutable);
    if (search.lacks_symbols()) fetch(DebuginfodFile::kDebugInfo);
  }
  return std::move(search).finish();
}

FoundObject ObjectFinder::find_vmlinux(std::string_view build_id, std::string_view release) const {
  Search search(options_.ignore_vmlinux_build_id ? std::string_view() : build_id);
  if (!options_.vmlinux.empty()) {
    search.look({ObjectSource::kVmlinux, path_below(options_.symfs, options_.vmlinux)});
    return std::move(search).finish();
  }
  // Without a build id, nothing says whether an image is that of the recorded kernel.
  if (build_id.empty()) return std::move(search).finish();
  search.look(as_places(ObjectSource::kBuildIdCache, cache_paths(options_, build_id, "elf")));
  auto look = [&](const std::string& path) {
    search.look({ObjectSource::kVmlinux, path_below(options_.symfs, path)});
  };
  look("/boot/vmlinux");
  if (!release.empty()) {
    look(fmt::format("/boot/vmlinux-{}", release));
    look(fmt::format("{}/boot/vmlinux-{}", options_.debug_root, release));
    look(fmt::format("/lib/modules/{}/build/vmlinux", release));
    look(fmt::format("{}/lib/modules/{}/vmlinux", options_.debug_root, release));
    look(fmt::format("{}/boot/vmlinux-{}.debug", options_.debug_root, release));
  }
  search.look(debug_build_id_places(options_, build_id));
  return std::move(search).finish();
}

std::string ObjectFinder::find_cached_kallsyms(std::string_view build_id) const {
  std::vector<std::string> paths = cache_paths(options_, build_id, "kallsyms");
  if (!options_.buildid_dir.empty() && !build_id.empty())
    paths.push_back(
        fmt::format("{}/[kernel.kallsyms]/{}/kallsyms", options_.buildid_dir, to_hex(build_id)));
  for (const std::string& path : paths)
    if (is_regular_file(path)) return path;
  return {};
}

std::string ObjectFinder::find_debug_info(const ObjectQuery& query) const {
  std::vector<PlaceToLook> own_places = object_places(options_, query);
  OwnFile own = read_own_file(own_places, options_, query);
  std::string build_id = query.build_id.empty() ? own.build_id : query.build_id;
  std::vector<PlaceToLook> places = own_places;
  auto append = [&places](std::vector<PlaceToLook> more) {
    places.insert(places.end(), more.begin(), more.end());
  };
  append(as_places(ObjectSource::kBuildIdCacheDebug, cache_paths(options_, build_id, "debug")));
  append(as_places(ObjectSource::kBuildIdCache, cache_paths(options_, build_id, "elf")));
  append(debug_build_id_places(options_, build_id));
  if (!build_id.empty()) {
    append(debug_link_places(options_, own.path, own.debug_link));
    append(debug_path_places(options_, query.path));
  }
  for (const PlaceToLook& place : places) {
    if (!is_regular_file(place.path) || !is_file_of(place.path, wanted_inode(options_, query)))
      continue;
    auto file = ElfFile::open(place.path);
    if (!file || (!build_id.empty() && !same_build_id(file->build_id(), build_id))) continue;
    if (has_dwarf(*file)) return place.path;
  }
  if (!options_.debuginfod || build_id.empty()) return {};
  return fetch_from_debuginfod(build_id, DebuginfodFile::kDebugInfo);
}

}  // namespace sonde
