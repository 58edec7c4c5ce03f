#include "capture/build_id_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "capture/object_build_id.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

/// Writes to a name of its own and renames, so that nobody ever sees half an object.
bool write_whole(const fs::path& path, Bytes bytes) {
  fs::path temporary = path;
  temporary += fmt::format(".{}", ::getpid());
  Fd fd(::open(temporary.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.valid()) return false;
  bool written = write_all(fd.get(), temporary, bytes).has_value();
  fd.reset();
  std::error_code error;
  if (written) fs::rename(temporary, path, error);
  if (!written || error) fs::remove(temporary, error);
  return written;
}

bool link_or_copy(const std::string& from, const fs::path& to) {
  if (::link(from.c_str(), to.c_str()) == 0) return true;
  Result<MappedFile> file = MappedFile::open(from);
  return file && write_whole(to, file->bytes());
}

bool store(const BuildIdEntry& entry, const HitObject& hit, const fs::path& directory) {
  if (entry.path == "[kernel.kallsyms]") {
    Result<std::string> symbols = read_file("/proc/kallsyms");
    return symbols && write_whole(directory / "kallsyms", as_bytes(*symbols));
  }
  if (entry.path == "[vdso]") return write_whole(directory / "vdso", vdso_bytes());
  if (!entry.path.starts_with('/')) return false;  // "[module]": no file is known
  return link_or_copy(reachable_path(entry.path, hit.pid), directory / "elf");
}

void add(const fs::path& root, const BuildIdEntry& entry, const HitObject& hit) {
  std::string id = to_hex(entry.build_id);
  fs::path link = root / ".build-id" / id.substr(0, 2) / id.substr(2);
  std::error_code error;
  if (fs::exists(fs::symlink_status(link, error))) return;
  std::string name = entry.path.starts_with('/') ? entry.path.substr(1) : entry.path;
  fs::path directory = root / name / id;
  fs::create_directories(directory, error);
  if (error) return;
  if (!store(entry, hit, directory)) {
    fs::remove(directory, error);
    return;
  }
  fs::create_directories(link.parent_path(), error);
  fs::create_directory_symlink(fs::path("../..") / name / id, link, error);
}

}  // namespace

void update_build_id_cache(const std::string& directory, const std::vector<HitObject>& hits,
                           const std::vector<BuildIdEntry>& build_ids) {
  if (directory.empty()) return;
  for (const BuildIdEntry& entry : build_ids) {
    constexpr size_t kShortest = 2;
    auto hit = std::ranges::find(hits, entry.path, &HitObject::path);
    if (hit != hits.end() && entry.build_id.size() >= kShortest) add(directory, entry, *hit);
  }
}

}  // namespace sonde
