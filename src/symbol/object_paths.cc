#include "symbol/object_paths.h"

#include <fmt/format.h>

#include "base/files/process_root.h"
#include "base/text.h"
#include "store/bundle.h"
#include "store/mapped_object.h"

namespace sonde {
namespace {

std::string_view directory_of(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "." : path.substr(0, slash);
}

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string hex_path(std::string_view build_id) {
  std::string hex = to_hex(build_id);
  return hex.substr(0, 2) + '/' + hex.substr(2);
}

}  // namespace

std::vector<PlaceToLook> object_places(const FinderOptions& options, const ObjectQuery& query) {
  std::vector<PlaceToLook> places;
  if (!query.path.starts_with('/')) return places;
  if (options.bundle != nullptr && query.build_id.empty())
    if (std::string file = options.bundle->file_at(without_deleted(query.path)); !file.empty())
      places.push_back({ObjectSource::kSystemPath, std::move(file)});
  if (!options.symfs.empty()) {
    std::string below = path_below(options.symfs, without_deleted(query.path));
    places.push_back({ObjectSource::kSystemPath, std::move(below)});
    return places;
  }
  if (options.path_trust == PathTrust::kNone && query.build_id.empty()) return places;
  MappedObject object{.path = query.path, .inode = query.inode};
  // A process of this machine that has the same number may be in a container, with other files.
  if (options.path_trust != PathTrust::kAnyElsewhere) {
    object.pids = query.pids;
    object.mount_namespace = query.mount_namespace;
  }
  bool deleted = without_deleted(query.path).size() < query.path.size();
  for (WayToObject& way : ways_to(object, options.proc)) {
    // If a file was deleted, its replacement needs proof that it is the same file.
    bool unproven = deleted && way.path == without_deleted(query.path) && query.build_id.empty();
    ObjectSource source =
        way.kind == WayKind::kMapping ? ObjectSource::kMappedFile : ObjectSource::kSystemPath;
    if (!unproven) places.push_back({source, std::move(way.path)});
  }
  return places;
}

std::vector<PlaceToLook> debug_link_places(const FinderOptions& options, std::string_view own_path,
                                           std::string_view link) {
  if (link.empty()) return {};
  std::string_view directory = directory_of(own_path);
  std::string_view below = directory;  // as the object's own machine names it
  if (!options.symfs.empty() && below.starts_with(options.symfs))
    below.remove_prefix(options.symfs.size());
  return {
      {ObjectSource::kDebugLink, fmt::format("{}/{}", directory, link)},
      {ObjectSource::kDebugLink, fmt::format("{}/.debug/{}", directory, link)},
      {ObjectSource::kDebugLink,
       path_below(options.symfs, fmt::format("{}{}/{}", options.debug_root, below, link))},
  };
}

std::vector<PlaceToLook> debug_path_places(const FinderOptions& options, std::string_view path) {
  if (!path.starts_with('/')) return {};
  auto below = [&](const std::string& file) { return path_below(options.symfs, file); };
  const std::string& root = options.debug_root;
  return {
      {ObjectSource::kFedoraDebug, below(fmt::format("{}{}.debug", root, path))},
      {ObjectSource::kUbuntuDebug, below(fmt::format("{}{}", root, path))},
      {ObjectSource::kOpenEmbeddedDebug,
       below(fmt::format("{}/.debug/{}", directory_of(path), name_of(path)))},
      {ObjectSource::kMixedUpUbuntuDebug, below(fmt::format("{}/usr{}", root, path))},
  };
}

std::vector<PlaceToLook> debug_build_id_places(const FinderOptions& options,
                                               std::string_view build_id) {
  if (build_id.size() < 2) return {};
  std::string file = fmt::format("{}/.build-id/{}.debug", options.debug_root, hex_path(build_id));
  return {{ObjectSource::kBuildIdDebug, path_below(options.symfs, file)}};
}

/// An MD5 build id of 16 bytes, which recorders that store no sizes (simpleperf) fill up with zeros
/// to 20; empty if it is none.
static std::string_view unpadded(std::string_view build_id) {
  constexpr size_t kPadded = 20, kMd5 = 16;
  bool is_padded = build_id.size() == kPadded && build_id.find_last_not_of('\0') < kMd5;
  return is_padded ? build_id.substr(0, kMd5) : std::string_view();
}

std::vector<std::string> cache_paths(const FinderOptions& options, std::string_view build_id,
                                     std::string_view name) {
  std::vector<std::string> paths;
  if (options.bundle != nullptr)
    if (std::string file = options.bundle->file(build_id, name); !file.empty())
      paths.push_back(std::move(file));
  if (options.buildid_dir.empty() || build_id.size() < 2) return paths;
  std::string entry = fmt::format("{}/.build-id/{}", options.buildid_dir, hex_path(build_id));
  paths.push_back(fmt::format("{}/{}", entry, name));
  if (name == "elf" || name == "kallsyms") paths.push_back(entry);
  for (std::string& path : cache_paths(options, unpadded(build_id), name))
    paths.push_back(std::move(path));
  return paths;
}

}  // namespace sonde
