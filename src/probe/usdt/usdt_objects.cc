#include "probe/usdt/usdt_objects.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/files/regular_file.h"
#include "base/process/program.h"
#include "base/text.h"
#include "probe/usdt/library_search.h"
#include "probe/usdt/sdt_cache.h"
#include "store/mapped_object.h"
#include "store/target_file.h"

namespace sonde {
namespace {

/// Files with executable mappings: "55e0-55f0 r-xp 00001000 fe:00 1234   /usr/bin/x".
std::vector<std::string> mapped_objects(std::string_view pid) {
  std::vector<std::string> paths;
  Result<std::string> maps = read_file(fmt::format("/proc/{}/maps", pid));
  if (!maps) return paths;
  std::string root = foreign_root("/proc", static_cast<uint32_t>(parse_number(pid).value_or(0)));
  for (std::string_view line : split(*maps, '\n')) {
    size_t blank = line.find(' '), slash = line.find('/');
    if (slash == std::string_view::npos || line.substr(blank + 3, 1) != "x") continue;
    std::string path(line.substr(slash));
    // A process in another mount namespace has its own files, and some of ours.
    std::string inside = root + path;
    auto theirs = status_of_regular(inside), ours = status_of_regular(path);
    if (!theirs) continue;
    bool same = ours && theirs->st_dev == ours->st_dev && theirs->st_ino == ours->st_ino;
    paths.push_back(same ? path : inside);
  }
  return paths;
}

/// Paths by which the kernel knows the files, each once.
class ObjectList {
 public:
  void add(const std::string& path) {
    if (!status_of_regular(path)) return;
    std::string real = without_links(path);
    if (std::ranges::find(objects_, real) == objects_.end()) objects_.push_back(std::move(real));
  }
  void add_program(const UsdtScope& scope) {
    if (std::string program = find_program(scope.program, scope.path); !program.empty()) {
      add(program);
      Result<MappedFile> cache = MappedFile::open("/etc/ld.so.cache");
      for (const std::string& library :
           libraries_of(program, cache ? parse_library_cache(cache->bytes()) : LibraryCache{}))
        add(library);
    }
    for (const std::string& pid : scope.pids)
      for (const std::string& object : mapped_objects(pid)) add(object);
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(objects_); }

 private:
  std::vector<std::string> objects_;
};

}  // namespace

std::vector<std::string> usdt_objects(std::string_view provider, std::string_view name,
                                      const UsdtScope& scope) {
  ObjectList objects;
  std::string wanted = fmt::format("sdt_{}:{}", provider, name);
  for (const SdtCacheEntry& entry : read_sdt_cache(scope.buildid_dir))
    if (glob_match(wanted, entry.name)) objects.add(entry.object);
  objects.add_program(scope);
  return objects.take();
}

std::vector<std::string> program_objects(const UsdtScope& scope) {
  ObjectList objects;
  objects.add_program(scope);
  return objects.take();
}

}  // namespace sonde
