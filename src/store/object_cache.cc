#include "store/object_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "base/files/regular_file.h"
#include "base/text.h"
#include "store/file_copy.h"

namespace sonde {
namespace {

// Read as a number, so that a machine of the other byte order finds nothing.
constexpr uint64_t kMagic = 0x31'65'64'6e'6f'73'2e'6b;
constexpr size_t kHeaderBytes = 32;

/// A directory may be shared: what else is there is none of ours to remove.
bool is_own(const std::filesystem::path& path) {
  std::string name = path.filename();
  std::string_view id = std::string_view(name).substr(0, name.find('.'));
  if (id.empty() || id.size() == name.size() ||
      id.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return false;
  Result<Fd> file = open_regular(path, LastLink::kRefuse);
  uint64_t magic = 0;
  return file && ::pread(file->get(), &magic, sizeof magic, 0) == sizeof magic && magic == kMagic;
}

uint64_t checksum_of(Bytes bytes, uint32_t version) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), version);
}

}  // namespace

std::string object_cache_directory(const Env& env) {
  std::string directory;
  if (auto own = env.variable("SONDE_CACHE"))
    directory = *own;
  else if (auto configured = env.config.get("sonde.cache"); configured && !configured->empty())
    directory = *configured;
  else if (auto caches = env.variable("XDG_CACHE_HOME"))
    directory = *caches + "/sonde";
  else if (auto home = env.variable("HOME"))
    directory = *home + "/.cache/sonde";
  return directory == "off" ? std::string() : directory;
}

std::string ObjectCache::path_of(std::string_view build_id, std::string_view kind) const {
  return fmt::format("{}/{}.{}", directory_, to_hex(build_id), kind);
}

std::optional<RetainedObject> ObjectCache::find(std::string_view build_id, std::string_view kind,
                                                uint32_t version) const {
  if (!keeps(build_id)) return std::nullopt;
  std::string path = path_of(build_id, kind);
  auto file = MappedFile::open(path);
  if (!file) return std::nullopt;
  ByteCursor in(file->bytes());
  bool known = in.u64() == kMagic && in.u32() == version;
  in.u32();  // reserved
  uint64_t size = in.u64(), checksum = in.u64();
  if (!in.ok() || !known || size != in.left() || checksum != checksum_of(in.rest(), version))
    return std::nullopt;
  // Marks it as recently used, for eviction.
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return RetainedObject(std::move(*file), kHeaderBytes);
}

void ObjectCache::keep(std::string_view build_id, std::string_view kind, uint32_t version,
                       Bytes bytes) const {
  if (!keeps(build_id) || bytes.size() > limit_bytes_ / 2) return;
  std::error_code ignored;
  std::filesystem::create_directories(directory_, ignored);
  make_room(bytes.size());
  ByteBuilder out;
  out.u64(kMagic);
  out.u32(version);
  out.u32(0);
  out.u64(bytes.size());
  out.u64(checksum_of(bytes, version));
  out.bytes(bytes);
  (void)write_whole(path_of(build_id, kind), out.view());
}

void ObjectCache::make_room(uint64_t for_bytes) const {
  struct File {
    std::filesystem::path path;
    std::filesystem::file_time_type used;
    uint64_t size;
  };
  std::vector<File> files;
  uint64_t total = for_bytes;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    File file{at->path(), at->last_write_time(gone), at->file_size(gone)};
    if (gone) continue;
    total += file.size;
    files.push_back(std::move(file));
  }
  if (total <= limit_bytes_) return;
  std::ranges::sort(files, {}, &File::used);
  for (const File& file : files) {
    if (total <= limit_bytes_) break;
    if (is_own(file.path) && std::filesystem::remove(file.path, error)) total -= file.size;
  }
}

}  // namespace sonde
