// Hostile archives, unpacked into a build-id cache, which then is read, and emptied, by all that
// use it: whatever the members are called and the links lead to, nothing outside of the cache is
// made, changed or removed, and nothing in it leads there.
//
// The first letter says what the archive is: `t` tar, `b` bzip2, `z` zstd, of members that the
// lines after it describe (a letter for the type, a name, and behind a tab the content or where the
// link leads); or `r`, and then the bytes of the archive itself.
#include <bzlib.h>
#include <zstd.h>

#include <filesystem>

#include "base/check.h"
#include "base/text.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/own_folder.h"
#include "probe/events/probe_cache.h"
#include "probe/usdt/sdt_cache.h"
#include "store/archive_unpack.h"
#include "store/build_id_cache.h"
#include "store/tar_format.h"

namespace {

using namespace sonde;
namespace fs = std::filesystem;

constexpr size_t kMaxMembers = 16;

/// Folders in each other, more than members could climb, with a file in each; the innermost has the
/// cache, and a folder beside it.
class Surroundings {
 public:
  Surroundings() {
    std::string path = folder_.path();
    for (size_t i = 0; i < 2 * kMaxMembers; ++i) {
      folders_.push_back(path);
      (void)put_file(path);
      path += "/d";
      CHECK(fs::create_directory(path));
    }
    folders_.push_back(path);
    (void)put_file(path);
    CHECK(fs::create_directory(path + "/beside"));
    cache_ = path + "/cache";
  }
  [[nodiscard]] const std::string& cache() const { return cache_; }

  /// Nothing came, went or changed but the cache.
  void check() const {
    for (const std::string& folder : folders_) {
      size_t entries = 0;
      for (const auto& entry : fs::directory_iterator(folder)) {
        std::string name = entry.path().filename();
        ++entries;
        if (name == "kept")
          CHECK(fs::is_regular_file(entry.symlink_status()) &&
                entry.file_size() == kContent.size());
        else
          CHECK((name == "d" || name == "cache" || name == "beside") &&
                fs::is_directory(entry.symlink_status()));
      }
      size_t expected = folder == folders_.back() ? 2 + (fs::exists(cache_) ? 1 : 0) : 2;
      CHECK(entries == expected);
    }
    CHECK(fs::is_empty(folders_.back() + "/beside"));
  }
  void clear() const {
    std::error_code error;
    fs::remove_all(cache_, error);
    CHECK(!error);
  }

 private:
  static constexpr std::string_view kContent = "kept";
  static std::string put_file(const std::string& folder) {
    std::string path = folder + "/kept";
    std::ofstream(path) << kContent;
    return path;
  }

  OwnFolder folder_;
  std::vector<std::string> folders_;
  std::string cache_;
};

/// All that is there is plain, and links lead to what is in the cache.
void check_cache(const std::string& cache) {
  std::error_code error;
  fs::path root = fs::canonical(cache, error);
  if (error) return;
  for (const auto& entry : fs::recursive_directory_iterator(cache)) {
    fs::file_status status = entry.symlink_status();
    CHECK(fs::is_regular_file(status) || fs::is_directory(status) || fs::is_symlink(status));
    CHECK((status.permissions() & (fs::perms::set_uid | fs::perms::set_gid)) == fs::perms::none);
    if (!fs::is_symlink(status)) continue;
    // Also of links that lead nowhere yet.
    fs::path target = fs::canonical(entry.path().parent_path()) / fs::read_symlink(entry.path());
    CHECK(target.lexically_normal().string().starts_with(root.string() + "/"));
  }
}

void use_cache(const std::string& directory) {
  BuildIdCache cache(directory);
  for (const CachedProbe& probe : read_probe_cache(directory))
    CHECK(!probe.event.name.contains(' '));
  (void)sdt_catalog(read_sdt_cache(directory));
  (void)probe_cache_text(directory, NameFilter());
  (void)remove_from_probe_cache(directory, NameFilter());
  for (const BuildIdCache::Entry& entry : cache.entries()) {
    (void)cache.holds(entry.build_id);
    (void)cache.build_ids_of(entry.path);
    (void)cache.remove(entry.build_id);
  }
}

std::vector<std::byte> tar_of(std::string_view lines) {
  ByteBuilder tar;
  size_t members = 0;
  for (std::string_view line : split(lines, '\n')) {
    if (line.empty() || members++ == kMaxMembers) continue;
    size_t tab = std::min(line.find('\t'), line.size());
    std::string_view more = line.substr(std::min(tab + 1, line.size()));
    TarMember member{.name = std::string(line.substr(1, std::max<size_t>(tab, 1) - 1))};
    if (line[0] == 'l') {
      member.type = TarType::kLink;
      member.target = more;
    } else if (line[0] == 'd') {
      member.type = TarType::kDirectory;
    } else {
      member.size = more.size();
    }
    put_tar_header(member, tar);
    if (member.type != TarType::kFile) continue;
    tar.text(more);
    tar.zeros(tar_padding(more.size()));
  }
  tar.zeros(2 * kTarBlock);
  return {tar.view().begin(), tar.view().end()};
}

std::vector<std::byte> packed(Bytes tar, char how) {
  std::vector<std::byte> out(::ZSTD_compressBound(tar.size()) + 1024);
  if (how == 'z') {
    size_t size = ::ZSTD_compress(out.data(), out.size(), tar.data(), tar.size(), 1);
    CHECK(::ZSTD_isError(size) == 0);
    out.resize(size);
  } else {
    auto size = static_cast<unsigned>(out.size());
    CHECK(::BZ2_bzBuffToBuffCompress(reinterpret_cast<char*>(out.data()), &size,
                                     const_cast<char*>(reinterpret_cast<const char*>(tar.data())),
                                     static_cast<unsigned>(tar.size()), 1, 0, 0) == BZ_OK);
    out.resize(size);
  }
  return out;
}

}  // namespace

FUZZ_TARGET(archive)(const uint8_t* data, size_t size) {
  // A few bytes can expand to gigabytes; that this has an end is not tested here.
  constexpr size_t kMaxBytes = 8192;
  if (size == 0 || size > kMaxBytes) return 0;
  static const Surroundings around;
  static const OwnFolder folder;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::byte> tar = tar_of(text.substr(1));
  Bytes archive = tar;
  std::vector<std::byte> small;
  if (text[0] == 'b' || text[0] == 'z') archive = small = packed(tar, text[0]);
  if (text[0] == 'r') archive = as_bytes(text.substr(1));
  std::string path = folder.file("archive", archive);
  auto unpacked = unpack_archive(path, around.cache());
  if (!unpacked) CHECK(unpacked.error().message.find('\n') == std::string::npos);
  around.check();
  check_cache(around.cache());
  use_cache(around.cache());
  around.check();
  around.clear();
  return 0;
}
