#include "probe/usdt/sdt_cache.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "base/file.h"
#include "base/foreign/plain_name.h"
#include "base/text.h"
#include "elf/elf_file.h"

namespace sonde {
namespace {

std::vector<std::string> probe_names(const std::string& path) {
  Result<std::string> text = read_file(path, size_t{1} << 24);
  return text ? sdt_cache_names(*text) : std::vector<std::string>();
}

/// "../../usr/lib/libc.so.6/0123…" as "/usr/lib/libc.so.6".
std::string object_of_link(const std::filesystem::path& link, std::error_code& error) {
  std::string target = std::filesystem::read_symlink(link, error).string();
  while (target.starts_with("../")) target.erase(0, 3);
  return "/" + target.substr(0, target.rfind('/'));
}

auto order(const SdtCacheEntry& entry) {
  return std::tie(entry.name, entry.build_id, entry.object);
}

}  // namespace

std::vector<std::string> sdt_cache_names(std::string_view text) {
  std::vector<std::string> names;
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with('%')) continue;
    std::string_view name = line.substr(1, line.find('=') - 1);
    if (is_plain_name(name) && !name.ends_with(':')) names.emplace_back(name);
  }
  return names;
}

std::vector<SdtCacheEntry> read_sdt_cache(const std::string& buildid_dir) {
  namespace fs = std::filesystem;
  std::vector<SdtCacheEntry> found;
  std::error_code error;
  for (const auto& head : fs::directory_iterator(buildid_dir + "/.build-id", error))
    for (const auto& entry : fs::directory_iterator(head.path(), error)) {
      std::vector<std::string> names = probe_names(entry.path() / "probes");
      if (names.empty()) continue;
      std::string id = head.path().filename().string() + entry.path().filename().string();
      std::string object = object_of_link(entry.path(), error);
      for (std::string& name : names) found.push_back({std::move(name), id, object});
    }
  std::ranges::sort(found, {}, order);
  auto repeated = std::ranges::unique(found, {}, order);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

bool is_still_there(const SdtCacheEntry& entry) {
  Result<ElfFile> object = ElfFile::open(entry.object);
  return object && to_hex(object->build_id()) == entry.build_id;
}

std::vector<CatalogEvent> sdt_catalog(std::span<const SdtCacheEntry> entries) {
  std::vector<CatalogEvent> found;
  for (size_t first = 0, end = 0; first < entries.size(); first = end) {
    while (end < entries.size() && entries[end].name == entries[first].name) ++end;
    for (size_t i = first; i < end; ++i) {
      const SdtCacheEntry& entry = entries[i];
      std::string where = end - first == 1
                              ? ""
                              : fmt::format("@{}({})", entry.object, entry.build_id.substr(0, 12));
      found.push_back({.kind = EventClass::kSdt, .name = entry.name + where, .pmu = "sdt"});
    }
  }
  return found;
}

}  // namespace sonde
