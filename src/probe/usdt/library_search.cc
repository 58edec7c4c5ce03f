#include "probe/usdt/library_search.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "elf/dynamic.h"

namespace sonde {
namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr size_t kHeaderSize = 48, kEntrySize = 24;
constexpr std::string_view kStandardDirectories[] = {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
/// No program has more libraries than this.
constexpr size_t kMaxLibraries = 1000;

std::string_view text_at(Bytes bytes, uint64_t offset) {
  if (offset >= bytes.size()) return {};
  std::string_view rest = as_text(bytes.subspan(offset));
  size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

std::string replace_origin(std::string_view directory, const std::string& object) {
  std::string origin = std::filesystem::path(object).parent_path().string();
  std::string result(directory);
  for (std::string_view word : {"${ORIGIN}", "$ORIGIN"})
    for (size_t at = result.find(word); at != std::string::npos; at = result.find(word, at))
      result.replace(at, word.size(), origin), at += origin.size();
  return result;
}

/// Candidate paths of `name`, in search order.
std::vector<std::string> candidates(std::string_view name, const DynamicInfo& info,
                                    const std::string& object, const LibraryCache& cache) {
  std::vector<std::string> paths;
  if (name.find('/') != std::string_view::npos) return {std::string(name)};
  for (std::string_view directory : split(info.run_path, ':'))
    if (!directory.empty())
      paths.push_back(fmt::format("{}/{}", replace_origin(directory, object), name));
  auto [first, last] = cache.equal_range(name);
  for (auto entry = first; entry != last; ++entry) paths.push_back(entry->second);
  for (std::string_view directory : kStandardDirectories)
    paths.push_back(fmt::format("{}/{}", directory, name));
  return paths;
}

}  // namespace

LibraryCache parse_library_cache(Bytes bytes) {
  LibraryCache cache;
  if (!as_text(bytes).starts_with(kMagic)) return cache;
  ByteCursor cursor(bytes);
  cursor.skip(kMagic.size());
  uint32_t count = cursor.u32();
  cursor.skip(kHeaderSize - kMagic.size() - sizeof count);
  if (!cursor.fits(count, kEntrySize)) return cache;
  for (uint32_t i = 0; i < count; ++i) {
    cursor.skip(sizeof(uint32_t));  // flags
    std::string_view name = text_at(bytes, cursor.u32());
    std::string_view path = text_at(bytes, cursor.u32());
    cursor.skip(kEntrySize - 3 * sizeof(uint32_t));  // versions and capabilities
    if (!name.empty() && path.starts_with('/')) cache.emplace(name, path);
  }
  return cache;
}

std::vector<std::string> libraries_of(const std::string& program, const LibraryCache& cache) {
  std::vector<std::string> found, seen;
  std::vector<std::string> open{program};
  for (size_t next = 0; next < open.size() && found.size() < kMaxLibraries; ++next) {
    const std::string object = open[next];
    Result<ElfFile> file = ElfFile::open(object);
    if (!file) continue;
    DynamicInfo info = dynamic_info(*file);
    for (std::string_view name : info.needed) {
      if (std::ranges::find(seen, name) != seen.end()) continue;
      seen.emplace_back(name);
      for (const std::string& path : candidates(name, info, object, cache)) {
        Result<ElfFile> library = ElfFile::open(path);
        if (!library || library->machine() != file->machine()) continue;
        found.push_back(path);
        open.push_back(path);
        break;
      }
    }
  }
  return found;
}

}  // namespace sonde
