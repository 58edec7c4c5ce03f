#include "symbol/object_paths.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "base/text.h"

namespace sonde {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

std::string link_target(const std::string& path) {
  std::array<char, 4096> target{};
  ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  return size <= 0 ? std::string() : std::string(target.data(), static_cast<size_t>(size));
}

/// /proc/PID/root where the process sees other files than we do; empty where it sees the same, or
/// is gone.
std::string foreign_root(const std::string& proc, pid_t pid) {
  if (pid <= 0) return {};
  std::string process = fmt::format("{}/{}", proc, pid);
  std::string its_mounts = link_target(process + "/ns/mnt");
  std::string its_root = link_target(process + "/root");
  if (its_root.empty()) return {};
  bool same = its_mounts == link_target(proc + "/self/ns/mnt") &&
              its_root == link_target(proc + "/self/root");
  return same ? std::string() : process + "/root";
}

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
  std::string_view path = query.path;
  if (!path.starts_with('/')) return places;
  bool deleted = path.ends_with(kDeleted);
  std::string_view bare = deleted ? path.substr(0, path.size() - kDeleted.size()) : path;
  auto add = [&](ObjectSource source, std::string place) {
    places.push_back({source, std::move(place)});
  };
  if (!options.symfs.empty()) {
    add(ObjectSource::kSystemPath, options.symfs + std::string(bare));
    return places;
  }
  if (std::string root = foreign_root(options.proc, query.pid); !root.empty())
    add(ObjectSource::kSystemPath, root + std::string(path));
  add(ObjectSource::kSystemPath, std::string(path));
  if (!deleted) return places;
  if (query.pid > 0) {
    std::string process = fmt::format("{}/{}", options.proc, query.pid);
    if (query.mapped_at)
      add(ObjectSource::kMappedFile, fmt::format("{}/map_files/{:x}-{:x}", process,
                                                 query.mapped_at->first, query.mapped_at->second));
    if (link_target(process + "/exe") == path) add(ObjectSource::kMappedFile, process + "/exe");
  }
  if (!query.build_id.empty()) add(ObjectSource::kSystemPath, std::string(bare));
  return places;
}

std::vector<PlaceToLook> debug_link_places(const FinderOptions& options, std::string_view own_path,
                                           std::string_view link) {
  if (link.empty()) return {};
  std::string_view directory = directory_of(own_path);
  std::string_view below = directory;  // as the object's own machine calls it
  if (!options.symfs.empty() && below.starts_with(options.symfs))
    below.remove_prefix(options.symfs.size());
  return {
      {ObjectSource::kDebugLink, fmt::format("{}/{}", directory, link)},
      {ObjectSource::kDebugLink, fmt::format("{}/.debug/{}", directory, link)},
      {ObjectSource::kDebugLink,
       fmt::format("{}{}{}/{}", options.symfs, options.debug_root, below, link)},
  };
}

std::vector<PlaceToLook> debug_path_places(const FinderOptions& options, std::string_view path) {
  if (!path.starts_with('/')) return {};
  std::string root = options.symfs + options.debug_root;
  return {
      {ObjectSource::kFedoraDebug, fmt::format("{}{}.debug", root, path)},
      {ObjectSource::kUbuntuDebug, fmt::format("{}{}", root, path)},
      {ObjectSource::kOpenEmbeddedDebug,
       fmt::format("{}{}/.debug/{}", options.symfs, directory_of(path), name_of(path))},
      {ObjectSource::kMixedUpUbuntuDebug, fmt::format("{}/usr{}", root, path)},
  };
}

std::vector<PlaceToLook> debug_build_id_places(const FinderOptions& options,
                                               std::string_view build_id) {
  if (build_id.size() < 2) return {};
  std::string file = fmt::format("{}/.build-id/{}.debug", options.debug_root, hex_path(build_id));
  return {{ObjectSource::kBuildIdDebug, options.symfs + file}};
}

std::vector<std::string> cache_paths(const FinderOptions& options, std::string_view build_id,
                                     std::string_view name) {
  if (options.buildid_dir.empty() || build_id.size() < 2) return {};
  std::string entry = fmt::format("{}/.build-id/{}", options.buildid_dir, hex_path(build_id));
  std::vector<std::string> paths{fmt::format("{}/{}", entry, name)};
  if (name == "elf" || name == "kallsyms") paths.push_back(entry);
  return paths;
}

}  // namespace sonde
