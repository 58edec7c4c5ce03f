#include "store/archive_unpack.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "store/bundle.h"
#include "store/expand.h"
#include "store/file_copy.h"
#include "store/tar_format.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLinkDirectory = ".build-id";

/// Whether a name leads from part to part, down from the directory in which it is looked up: what
/// it is compared with is then what it means.
bool is_plain(std::string_view name) {
  for (std::string_view part : split(name, '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return true;
}

bool is_link_name(std::string_view name) {
  return name.substr(0, name.find('/')) == kLinkDirectory;
}

/// "abcdef" of ".build-id/ab/cdef"; empty for any other name. A link elsewhere could be part of
/// another's path, and its target is relative to its own place.
std::string build_id_of_link(std::string_view name) {
  std::vector<std::string_view> parts = split(name, '/');
  if (parts.size() != 3 || parts[0] != kLinkDirectory || parts[1].size() != 2) return {};
  std::string id = fmt::format("{}{}", parts[1], parts[2]);
  bool is_hex =
      std::ranges::all_of(id, [](char c) { return is_ascii_digit(c) || (c >= 'a' && c <= 'f'); });
  return is_hex && id.size() > 2 ? id : std::string();
}

/// Whether a link leads to a directory that the cache has for this build id, and no other's.
bool leads_to_object(std::string_view target, std::string_view build_id) {
  constexpr std::string_view kUp = "../../";
  if (!target.starts_with(kUp)) return false;
  target.remove_prefix(kUp.size());
  return is_plain(target) && !is_link_name(target) &&
         target.ends_with(fmt::format("/{}", build_id));
}

std::string_view without_dot(std::string_view name) {
  return name.starts_with("./") ? name.substr(2) : name;
}

class Unpacker {
 public:
  explicit Unpacker(std::string directory) : directory_(std::move(directory)) {}

  Result<> take(const TarMember& member) {
    std::string name(without_dot(member.name));
    bool of_bundle = name == "perf.data" || name.starts_with("files/");
    if (member.type == TarType::kDirectory || of_bundle) return {};
    bool is_link = member.type == TarType::kLink;
    if (!is_plain(name) || is_link_name(name) != is_link) return refuse();
    return is_link ? link(name, member.target) : file(name, member.content);
  }
  [[nodiscard]] UnpackSummary summary() const { return summary_; }

 private:
  Result<> refuse() {
    ++summary_.refused;
    return {};
  }

  Result<> make_parent(const fs::path& path) const {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (!error) return {};
    return fail(ErrorCode::kIo, "failed to create {}: {}", path.parent_path().string(),
                error.message());
  }

  Result<> file(const std::string& name, Bytes content) const {
    fs::path path = fs::path(directory_) / name;
    std::error_code error;
    if (fs::exists(fs::symlink_status(path, error))) return {};
    TRY(make_parent(path));
    return write_whole(path.string(), content);
  }

  /// ".build-id/ab/cdef" to "../../usr/bin/x/abcdef".
  Result<> link(const std::string& name, const std::string& target) {
    std::string build_id = build_id_of_link(name);
    if (build_id.empty() || !leads_to_object(target, build_id)) return refuse();
    ++summary_.objects;
    fs::path path = fs::path(directory_) / name;
    std::error_code error;
    if (fs::exists(path, error)) return {};
    fs::remove(path, error);  // a dangling link
    TRY(make_parent(path));
    fs::create_directory_symlink(target, path, error);
    if (error)
      return fail(ErrorCode::kIo, "failed to create {}: {}", path.string(), error.message());
    return {};
  }

  std::string directory_;
  UnpackSummary summary_;
};

}  // namespace

Result<UnpackSummary> unpack_archive(const std::string& archive, const std::string& directory) {
  MappedFile file = TRY(MappedFile::open(archive));
  Bytes bytes = file.bytes();
  bool is_bzip2 = as_text(bytes).starts_with("BZh");
  if (is_bzip2 || Bundle::looks_like_one(bytes)) {
    Fd memory = TRY(memory_file(archive));
    if (is_bzip2)
      TRY(expand_bzip2(bytes, memory.get(), archive));
    else
      TRY(expand_zstd(bytes, 0, UINT64_MAX, memory.get(), archive));
    file = TRY(MappedFile::map(memory.get(), archive));
    bytes = file.bytes();
  }
  TarReader reader(bytes);
  Unpacker unpacker(directory);
  size_t members = 0;
  while (true) {
    auto member = reader.next();
    if (!member)
      return fail(ErrorCode::kCorrupt, "{} is damaged or not an archive: {}", archive,
                  member.error());
    if (!*member) break;
    ++members;
    TRY(unpacker.take(**member));
  }
  if (members == 0) return fail(ErrorCode::kCorrupt, "{} is not an archive", archive);
  return unpacker.summary();
}

}  // namespace sonde
