#include "store/build_id_cache.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "elf/build_id.h"
#include "elf/elf_file.h"
#include "store/file_copy.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMin = 2;  // one byte names the directory, the others the link
constexpr std::string_view kLinks = ".build-id";

std::string as_bytes_of_hex(std::string_view hex) {
  std::string raw;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    auto byte = parse_hex(hex.substr(i, 2));
    if (!byte) return {};
    raw.push_back(static_cast<char>(*byte));
  }
  return hex.size() % 2 == 0 ? raw : std::string();
}

/// The directory, relative to the cache's, for objects of a path. Empty if the path climbs out of
/// it, or leads to where the links are: there it would be found under another's build id.
std::string place_of(std::string_view path) {
  while (path.starts_with('/') || path.starts_with("./")) path.remove_prefix(1);
  if (path.substr(0, path.find('/')) == kLinks) return {};
  for (std::string_view part : split(path, '/'))
    if (part == "..") return {};
  return std::string(path);
}

/// Maps "../../usr/bin/true/0123…" to "/usr/bin/true", "../../[vdso]/0123…" to "[vdso]".
std::string object_of_link(const fs::path& link) {
  std::error_code error;
  std::string target = fs::read_symlink(link, error).string();
  while (target.starts_with("../")) target.erase(0, 3);
  target.resize(std::min(target.size(), target.rfind('/')));
  return target.starts_with('[') ? target : "/" + target;
}

bool has_build_id(const std::string& file, std::string_view build_id) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return false;
  Result<ElfFile> elf = ElfFile::open(file);
  return elf && same_build_id(elf->build_id(), build_id);
}

/// What is in the directory of a cached object.
constexpr std::string_view kObjectFiles[] = {"elf", "vdso", "kallsyms", "debug", "probes"};

/// Only that, and the directory if nothing else is in it: links in a cache may lead anywhere.
void remove_object(const fs::path& directory, std::error_code& error) {
  for (std::string_view name : kObjectFiles) {
    fs::path file = directory / name;
    if (fs::is_directory(fs::symlink_status(file, error))) continue;
    fs::remove(file, error);
    if (error) return;
  }
  bool is_empty = fs::is_empty(directory, error);
  if (is_empty && !error) fs::remove(directory, error);
}

Result<> failed(std::string_view what, const fs::path& path, const std::error_code& error) {
  return fail(ErrorCode::kIo, "failed to {} {}: {}", what, path.string(), error.message());
}

}  // namespace

std::string build_id_directory(const Env& env, std::string_view given) {
  if (!given.empty()) return std::string(given);
  if (auto directory = env.variable("PERF_BUILDID_DIR")) return *directory;
  std::string home = env.variable("HOME").value_or("");
  if (auto configured = env.config.get("buildid.dir"); configured && !configured->empty())
    return configured->starts_with("~/") ? home + std::string(configured->substr(1))
                                         : std::string(*configured);
  return home.empty() ? std::string() : home + "/.debug";
}

std::string_view cached_name(std::string_view path) {
  if (path == "[kernel.kallsyms]" || path == "[guest.kernel.kallsyms]") return "kallsyms";
  return path == "[vdso]" ? "vdso" : "elf";
}

std::string debug_file_of(std::string_view build_id) {
  if (build_id.size() < kMin) return {};
  std::string hex = to_hex(build_id);
  return fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", hex.substr(0, 2), hex.substr(2));
}

std::string BuildIdCache::link_of(std::string_view build_id) const {
  std::string hex = to_hex(build_id);
  return fmt::format("{}/{}/{}/{}", directory_, kLinks, hex.substr(0, 2), hex.substr(2));
}

std::string BuildIdCache::file(std::string_view build_id, std::string_view name) const {
  if (directory_.empty() || build_id.size() < kMin) return {};
  return fmt::format("{}/{}", link_of(build_id), name);
}

bool BuildIdCache::holds(std::string_view build_id) const {
  if (directory_.empty() || build_id.size() < kMin) return false;
  std::error_code error;
  return has_build_id(file(build_id, "elf"), build_id) ||
         has_build_id(file(build_id, "vdso"), build_id) ||
         fs::is_regular_file(file(build_id, "kallsyms"), error);
}

Result<> BuildIdCache::fill(const CachedObject& object, const std::string& directory) const {
  std::string own = fmt::format("{}/{}", directory, cached_name(object.path));
  // What an interrupted addition left behind.
  std::error_code error;
  if (!fs::exists(own, error)) {
    if (object.file.empty())
      TRY(write_whole(own, object.content));
    else
      TRY(link_or_copy(object.file, own));
  }
  std::string debug = directory + "/debug";
  if (!object.debug_file.empty() && !fs::exists(debug, error))
    (void)link_or_copy(object.debug_file, debug);  // the object is useful without it
  if (object.probes) TRY(write_whole(directory + "/probes", as_bytes(*object.probes)));
  return {};
}

Result<BuildIdCache::Added> BuildIdCache::add(const CachedObject& object) const {
  std::string place = place_of(object.path);
  if (directory_.empty()) return fail(ErrorCode::kIo, "there is no directory for a build-id cache");
  if (object.build_id.size() < kMin || place.empty())
    return fail(ErrorCode::kFailed, "{} cannot be cached: it has no build id", object.path);
  fs::path link = link_of(object.build_id);
  std::error_code error;
  bool filed = fs::is_symlink(fs::symlink_status(link, error));
  if (filed && fs::exists(fmt::format("{}/{}", link.string(), cached_name(object.path)), error))
    return Added::kWasThere;
  std::string id = to_hex(object.build_id);
  fs::path directory = fs::path(directory_) / place / id;
  fs::create_directories(directory, error);
  if (error) return std::unexpected(failed("create", directory, error).error());
  if (Result<> filled = fill(object, directory); !filled) {
    fs::remove(directory, error);  // only if it is empty
    return std::unexpected(std::move(filled).error());
  }
  fs::create_directories(link.parent_path(), error);
  if (filed) fs::remove(link, error);  // its target no longer exists
  fs::create_directory_symlink(fs::path("../..") / place / id, link, error);
  // Somebody else may have been faster.
  if (error && error != std::errc::file_exists)
    return std::unexpected(failed("create", link, error).error());
  return Added::kNew;
}

Result<> BuildIdCache::replace(const CachedObject& object) const {
  TRY(remove(object.build_id));
  TRY(add(object));
  return {};
}

Result<bool> BuildIdCache::remove(std::string_view build_id) const {
  if (directory_.empty() || build_id.size() < kMin) return false;
  fs::path link = link_of(build_id);
  std::error_code error;
  fs::file_status status = fs::symlink_status(link, error);
  if (!fs::exists(status)) return false;
  if (fs::is_symlink(status)) {
    fs::path target = fs::weakly_canonical(link, error);
    fs::path root = fs::weakly_canonical(directory_, error);
    bool is_objects = target.string().starts_with(root.string() + "/") &&
                      target.filename().string() == to_hex(build_id) && fs::exists(target, error);
    if (is_objects) remove_object(target, error);
    if (error) return std::unexpected(failed("remove", target, error).error());
  }
  fs::remove(link, error);
  if (error) return std::unexpected(failed("remove", link, error).error());
  return true;
}

std::vector<BuildIdCache::Entry> BuildIdCache::entries() const {
  std::vector<Entry> entries;
  std::error_code error;
  if (directory_.empty()) return entries;
  for (const auto& head : fs::directory_iterator(fs::path(directory_) / kLinks, error))
    for (const auto& link : fs::directory_iterator(head.path(), error)) {
      std::string build_id =
          as_bytes_of_hex(head.path().filename().string() + link.path().filename().string());
      if (build_id.size() < kMin || !fs::is_symlink(link.symlink_status(error))) continue;
      entries.push_back({std::move(build_id), object_of_link(link.path())});
    }
  std::ranges::sort(entries, {}, [](const Entry& entry) { return to_hex(entry.build_id); });
  return entries;
}

std::vector<std::string> BuildIdCache::build_ids_of(std::string_view path) const {
  std::vector<std::string> ids;
  std::string place = place_of(path);
  if (directory_.empty() || place.empty()) return ids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(directory_) / place, error)) {
    std::string id = as_bytes_of_hex(entry.path().filename().string());
    // A directory of a longer path may look like a build id; the links decide.
    if (id.size() >= kMin && fs::exists(fs::symlink_status(link_of(id), error)))
      ids.push_back(std::move(id));
  }
  std::ranges::sort(ids);
  return ids;
}

}  // namespace sonde
