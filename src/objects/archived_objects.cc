#include "objects/archived_objects.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "base/files/regular_file.h"
#include "base/text.h"
#include "elf/build_id.h"
#include "objects/build_id_text.h"
#include "replay/passes/recorded_host.h"
#include "replay/session.h"
#include "store/build_id_cache.h"
#include "store/bundle.h"
#include "store/mapped_object.h"
#include "store/process_file.h"
#include "symbol/object_finder.h"
#include "symbol/own_vdso.h"
#include "symbol/perf_map.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
  return !path.empty() && is_file_of(path, 0);
}

/// A name inside an archive is derived from the path, and recordings may come from anywhere:
/// rejects paths that would escape the archive or have no name.
bool names_a_file(std::string_view path) {
  size_t names = 0;
  for (std::string_view part : split(path, '/')) {
    if (part == "..") return false;
    if (!part.empty() && part != ".") ++names;
  }
  return names > 0;
}

/// The file in which dwz put what several debug files share: its path, if it is here.
struct Supplement {
  std::string build_id;
  std::string path;
};
std::optional<Supplement> supplement_of(const std::string& debug_file) {
  auto elf = ElfFile::open(debug_file);
  if (!elf) return std::nullopt;
  const ElfSection* link = elf->section(".gnu_debugaltlink");
  if (link == nullptr) return std::nullopt;
  std::string_view content = as_text(elf->content(*link));
  size_t end = content.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  std::string path(content.substr(0, end));
  Supplement found{std::string(content.substr(end + 1)), {}};
  std::string directory = debug_file.substr(0, debug_file.rfind('/') + 1);
  for (const std::string& place :
       {path.starts_with('/') ? path : directory + path,
        "/usr/lib/debug/.dwz/" + path.substr(path.rfind('/') + 1), debug_file_of(found.build_id)}) {
    auto file = is_file(place) ? ElfFile::open(place) : fail(ErrorCode::kNotFound, "");
    if (!file || !same_build_id(file->build_id(), found.build_id)) continue;
    found.path = place;
    return found;
  }
  return std::nullopt;
}

SymbolOptions symbol_options(const Session& session) {
  const Recording& recording = session.recording();
  SymbolOptions options;
  options.bundle = recording.bundle();
  options.path_trust = path_trust_of(options, host_of(recording.features()), session.machine());
  return options;
}

class ObjectSearch {
 public:
  ObjectSearch(const Session& session, const ArchiveOptions& options, Env& env)
      : dsos_(session.machine().dsos()),
        options_(options),
        cache_(build_id_directory(env)),
        finder_(finder_options(symbol_options(session), env)) {}

  void add(DsoId id) {
    const Dso& dso = dsos_[id];
    if (!names_a_file(dso.path) || dso.is_guest) return;
    switch (dso.kind) {
      case DsoKind::kKernel:
        return add_kernel(dso);
      case DsoKind::kVdso:
        return add_vdso(dso);
      case DsoKind::kFile:
        return add_file(dso);
      case DsoKind::kJit:
        return add_written(
            dso, here(perf_map_paths(static_cast<pid_t>(dso.pid))),
            [](const auto& path, pid_t pid) { return open_process_file(path, pid); });
      case DsoKind::kJitDump:
        return add_written(
            dso, here({fmt::format("/proc/{}/root{}", dso.pid, dso.path), dso.path}),
            [](const auto& path, pid_t pid) { return open_mapped_process_file(path, pid); });
      case DsoKind::kModule:  // its symbols are among the kernel's
      case DsoKind::kVsyscall:
      case DsoKind::kNoSymbols:
      case DsoKind::kBpf:
      case DsoKind::kMarker:
        return;
    }
  }
  /// Leaves out the object with this build id.
  void exclude(std::string build_id) { known_.insert(std::move(build_id)); }
  ArchivedObjects found() && { return std::move(found_); }

 private:
  /// Paths of this machine, if they can be what was recorded.
  [[nodiscard]] std::vector<std::string> here(std::vector<std::string> paths) const {
    if (finder_.options().path_trust == PathTrust::kNone) paths.clear();
    return paths;
  }

  void add_kernel(const Dso& dso) {
    if (dso.build_id.empty() || !known_.insert(dso.build_id).second) return;
    ArchivedObject object{.path = dso.path, .build_id = dso.build_id};
    std::string kallsyms = finder_.find_cached_kallsyms(dso.build_id);
    auto notes = read_file("/sys/kernel/notes");
    bool runs_here = notes && same_build_id(build_id_in_notes(as_bytes(*notes)), dso.build_id);
    if (!kallsyms.empty())
      object.files.emplace_back("kallsyms", kallsyms);
    else if (runs_here)
      object.content = read_file("/proc/kallsyms").value_or("");
    keep(std::move(object));
  }

  void add_vdso(const Dso& dso) {
    if (dso.build_id.empty() || !known_.insert(dso.build_id).second) return;
    ArchivedObject object{.path = dso.path, .build_id = dso.build_id};
    FoundObject found = finder_.find(query_of(dso));
    if (found.usable())
      object.content = as_text(found.symbols ? found.symbols->bytes() : found.runtime->bytes());
    keep(std::move(object));
  }

  void add_file(const Dso& dso) {
    if (!dso.path.starts_with('/')) return;
    FoundObject found;
    if (dso.build_id.empty()) {
      found = finder_.find(query_of(dso));
      return add_by_path(std::string(without_deleted(dso.path)), {found.runtime_path});
    }
    if (!known_.insert(dso.build_id).second) return;
    ArchivedObject object{.path = std::string(without_deleted(dso.path)), .build_id = dso.build_id};
    if (cache_.holds(dso.build_id)) add_cached_files(object);
    if (object.files.empty()) {
      found = finder_.find(query_of(dso));
      if (!found.runtime_path.empty()) object.files.emplace_back("elf", found.runtime_path);
    }
    if (!object.files.empty()) add_debug_file(dso, object);
    keep(std::move(object));
  }

  void add_cached_files(ArchivedObject& object) const {
    std::error_code error;
    fs::path directory = fs::path(cache_.file(object.build_id, "elf")).parent_path();
    for (const auto& file : fs::directory_iterator(directory, error))
      if (file.is_regular_file(error))
        object.files.emplace_back(file.path().filename().string(), file.path().string());
    std::ranges::sort(object.files);
  }

  /// For symbols or lines that come from a file other than the object itself.
  void add_debug_file(const Dso& dso, ArchivedObject& object) {
    auto known =
        std::ranges::find(object.files, "debug", [](const auto& file) { return file.first; });
    std::string debug = known != object.files.end() ? known->second : std::string();
    if (!options_.for_bundle) return;
    if (debug.empty()) {
      debug = finder_.find_debug_info(query_of(dso));
      if (debug.empty()) debug = finder_.find(query_of(dso)).symbols_path;
      bool same = std::ranges::any_of(object.files, [&](const auto& file) {
        std::error_code error;
        return file.second == debug || fs::equivalent(file.second, debug, error);
      });
      if (debug.empty() || same) return;
      object.files.emplace_back("debug", debug);
    }
    auto supplement = supplement_of(debug);
    if (!supplement || !known_.insert(supplement->build_id).second) return;
    found_.objects.push_back({.path = fs::canonical(supplement->path).string(),
                              .build_id = supplement->build_id,
                              .files = {{"debug", supplement->path}}});
  }

  void add_by_path(const std::string& path, std::vector<std::string> places) {
    if (!options_.for_bundle || !known_.insert("/" + path).second) return;
    if (finder_.options().bundle != nullptr)
      places.insert(places.begin(), finder_.options().bundle->file_at(path));
    auto place = std::ranges::find_if(places, is_file);
    if (place != places.end())
      found_.by_path.emplace_back(path, *place);
    else
      found_.missing.push_back(path);
  }

  using Opener = std::function<Result<Fd>(const std::string&, pid_t)>;
  /// What a process wrote, if it can be believed. It stays open: its name may lead elsewhere later.
  void add_written(const Dso& dso, const std::vector<std::string>& places, const Opener& open) {
    auto pid = static_cast<pid_t>(dso.pid);
    std::vector<std::string> opened;
    if (options_.for_bundle)
      for (const std::string& place : places)
        if (Result<Fd> file = open(place, pid)) {
          opened.push_back(fmt::format("/proc/self/fd/{}", file->get()));
          found_.held.push_back(std::move(*file));
          break;
        }
    add_by_path(dso.path, std::move(opened));
  }

  void keep(ArchivedObject object) {
    if (object.files.empty() && object.content.empty())
      found_.missing.push_back(std::move(object.path));
    else
      found_.objects.push_back(std::move(object));
  }

  const DsoTable& dsos_;
  const ArchiveOptions& options_;
  BuildIdCache cache_;
  ObjectFinder finder_;
  std::set<std::string> known_;  // build ids, and paths
  ArchivedObjects found_;
};

/// Opens the file of an object for the archive, unless its path leads to something else by now.
Result<Fd> open_checked(const std::string& name, const std::string& file,
                        std::string_view build_id) {
  Fd fd = TRY(open_regular(file));
  if (name != "elf" && name != "debug") return fd;
  ElfFile elf = TRY(ElfFile::open(fmt::format("/proc/self/fd/{}", fd.get())));
  if (name == "elf" && !build_id.empty() && !same_build_id(elf.build_id(), build_id))
    return fail(ErrorCode::kNotFound, "{} is no longer the object that was recorded", file);
  return fd;
}

Result<> put_object(const ArchivedObject& object, ArchiveWriter& archive,
                    std::vector<std::string>& unreadable) {
  std::string id = to_hex(object.build_id);
  std::string path = object.path.substr(object.path.find_first_not_of('/'));
  std::string directory = fmt::format("{}/{}", path, id);
  TRY(archive.add_link(fmt::format(".build-id/{}/{}", id.substr(0, 2), id.substr(2)),
                       "../../" + directory));
  TRY(archive.add_directory(directory));
  if (object.files.empty())
    return archive.add_bytes(fmt::format("{}/{}", directory, cached_name(object.path)),
                             as_bytes(object.content));
  for (const auto& [name, file] : object.files) {
    if (Result<Fd> fd = open_checked(name, file, object.build_id))
      TRY(archive.add_file(fmt::format("{}/{}", directory, name),
                           fmt::format("/proc/self/fd/{}", fd->get())));
    else
      unreadable.push_back(object.path);
  }
  return {};
}

}  // namespace

Result<ArchivedObjects> find_objects_of(const ArchiveOptions& options, Env& env) {
  SessionOptions session_options;
  session_options.open = {.force = options.force, .stdin_fd = env.in_fd};
  session_options.want_symbols = false;
  Session session = TRY(Session::open(options.input, session_options, env));
  std::set<DsoId> hit;
  for (const Frame& frame : session.frames()) hit.insert(frame.dso);
  ObjectSearch search(session, options, env);
  if (!options.excluded_ids.empty())
    for (std::string& id : TRY(read_build_ids(options.excluded_ids))) search.exclude(std::move(id));
  for (size_t i = 0; i < session.machine().dsos().size(); ++i)
    if (options.all || hit.contains(DsoId(i))) search.add(DsoId(i));
  return std::move(search).found();
}

Result<std::vector<std::string>> put_objects(const ArchivedObjects& all, bool with_paths,
                                             ArchiveWriter& archive) {
  std::vector<std::string> missing = all.missing;
  for (const ArchivedObject& object : all.objects) TRY(put_object(object, archive, missing));
  if (!with_paths) return missing;
  // A program's file was found by its path, and may have been replaced; what is open already was
  // checked.
  for (const auto& [path, file] : all.by_path)
    if (Result<Fd> fd =
            open_checked(file.starts_with("/proc/self/fd/") ? "" : "elf", file, std::string_view());
        fd)
      TRY(archive.add_file("files" + path, fmt::format("/proc/self/fd/{}", fd->get())));
    else
      missing.push_back(path);
  return missing;
}

void count_missing(const std::vector<std::string>& missing, LossLedger& losses) {
  constexpr size_t kMaxNamed = 5;
  if (missing.empty()) return;
  std::vector<std::string> named(
      missing.begin(),
      missing.begin() + static_cast<std::ptrdiff_t>(std::min(missing.size(), kMaxNamed)));
  if (missing.size() > kMaxNamed) named.emplace_back("…");
  losses.add(LossKind::k_not_bundled, missing.size(), join(named, ", "));
}

Result<BundleSummary> write_bundle(const ArchiveOptions& options, const std::string& path,
                                   Env& env) {
  struct stat status{};
  if (options.input == "-" ||
      (::stat(options.input.c_str(), &status) == 0 && !S_ISREG(status.st_mode)))
    return fail(
        ErrorCode::kUnsupported,
        "{}: only a recording in one file can be bundled (not a pipe, nor a directory such as "
        "--threads and --kcore make)",
        options.input);
  ArchiveOptions wanted = options;
  wanted.for_bundle = true;
  ArchivedObjects objects = TRY(find_objects_of(wanted, env));
  ArchiveWriter archive = TRY(ArchiveWriter::create(path, Compression::kZstdFrames));
  TRY(archive.add_file("perf.data", options.input));
  count_missing(TRY(put_objects(objects, true, archive)), env.losses);
  TRY(archive.finish());
  return BundleSummary{objects.objects.size() + objects.by_path.size(), archive.bytes_written()};
}

}  // namespace sonde
