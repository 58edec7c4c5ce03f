#include "store/bundle.h"

#include <zstd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "base/text.h"
#include "store/expand.h"
#include "store/tar_format.h"

namespace sonde {
namespace {

constexpr std::string_view kRecordingName = "perf.data";
constexpr std::string_view kFiles = "files/";
constexpr uint32_t kZstdMagic = 0xfd2fb528;
constexpr size_t kMaxHeaderLength = 16 * kTarBlock;
constexpr uint64_t kMaxMemberSize = uint64_t{1} << 36;

struct Member {
  Bytes frame;
  uint64_t skip = 0;  // headers
  uint64_t size = 0;
  std::string name;
  Fd file;  // once it is expanded
  bool failed = false;
};

/// "abcdef01/elf" from "usr/bin/x/abcdef01/elf": the key of lookups by build id.
std::string_view last_two(std::string_view name) {
  size_t slash = name.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return {};
  size_t before = name.rfind('/', slash - 1);
  return before == std::string_view::npos ? name : name.substr(before + 1);
}

}  // namespace

struct Bundle::State {
  MappedFile mapped;
  std::string name;
  std::vector<Member> members;
  std::map<std::string, size_t, std::less<>> by_name;      // perf.data, files/…
  std::map<std::string, size_t, std::less<>> by_build_id;  // "abcdef01/elf"
  std::mutex mutex;
  bool ended = false;  // the archive's end has been read

  Result<> read(Bytes bytes);
  Result<> read_member(Bytes frame, uint64_t offset);
  Result<const Fd*> expand(Member& member);
  std::string path_of(size_t index);
};

Result<> Bundle::State::read(Bytes bytes) {
  uint64_t offset = 0;
  while (!bytes.empty()) {
    size_t size = ::ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
    if (::ZSTD_isError(size) != 0)
      return fail(ErrorCode::kCorrupt, "{}: the bundle is cut off or damaged at offset {:#x}", name,
                  offset);
    TRY(read_member(bytes.first(size), offset));
    bytes = bytes.subspan(size);
    offset += size;
  }
  if (!ended)
    return fail(ErrorCode::kCorrupt, "{}: the bundle is cut off after {} of its members", name,
                members.size());
  if (!by_name.contains(kRecordingName))
    return fail(ErrorCode::kCorrupt, "{}: no recording is in this bundle", name);
  return {};
}

Result<> Bundle::State::read_member(Bytes frame, uint64_t offset) {
  auto begin = begin_of_zstd(frame, kMaxHeaderLength);
  if (!begin || begin->empty())
    return fail(ErrorCode::kCorrupt, "{}: the bundle is damaged at offset {:#x}", name, offset);
  TarReader reader(*begin);
  auto header = reader.next(true);
  if (!header)
    return fail(ErrorCode::kCorrupt, "{}: the bundle is damaged at offset {:#x}: {}", name, offset,
                header.error());
  ended = !*header;
  if (ended || (*header)->type != TarType::kFile) return {};
  Member member;
  member.frame = frame;
  member.skip = reader.content_offset();
  member.size = (*header)->size;
  member.name = (*header)->name;
  if (member.size > kMaxMemberSize)
    return fail(ErrorCode::kCorrupt, "{}: {} claims {} bytes", name, member.name, member.size);
  if (member.name == kRecordingName || member.name.starts_with(kFiles))
    by_name.try_emplace(member.name, members.size());
  else if (std::string_view key = last_two(member.name); !key.empty())
    by_build_id.try_emplace(std::string(key), members.size());
  members.push_back(std::move(member));
  return {};
}

Result<const Fd*> Bundle::State::expand(Member& member) {
  if (member.file.valid()) return &member.file;
  std::string what = fmt::format("{} in {}", member.name, name);
  if (member.failed) return fail(ErrorCode::kCorrupt, "{} is damaged", what);
  member.failed = true;
  Fd file = TRY(memory_file(member.name));
  TRY(expand_zstd(member.frame, member.skip, member.size, file.get(), what));
  MappedFile content = TRY(MappedFile::map(file.get(), what));
  if (content.size() != member.size)
    return fail(ErrorCode::kCorrupt, "{} is damaged: it has {} of {} bytes", what, content.size(),
                member.size);
  member.failed = false;
  member.file = std::move(file);
  return &member.file;
}

std::string Bundle::State::path_of(size_t index) {
  std::scoped_lock lock(mutex);
  Result<const Fd*> file = expand(members[index]);
  return file ? fmt::format("/proc/self/fd/{}", (*file)->get()) : std::string();
}

Bundle::Bundle(std::unique_ptr<State> state) : state_(std::move(state)) {}
Bundle::Bundle(Bundle&&) noexcept = default;
Bundle& Bundle::operator=(Bundle&&) noexcept = default;
Bundle::~Bundle() = default;

bool Bundle::looks_like_one(Bytes begin) {
  return begin.size() >= sizeof kZstdMagic &&
         load<uint32_t>(begin.data(), ByteOrder::kLittle) == kZstdMagic;
}

Result<Bundle> Bundle::open(MappedFile file, const std::string& name) {
  Bytes bytes = file.bytes();
  Bundle bundle = TRY(view(bytes, name));
  bundle.state_->mapped = std::move(file);
  return bundle;
}

Result<Bundle> Bundle::view(Bytes bytes, const std::string& name) {
  auto state = std::make_unique<State>();
  state->name = name;
  TRY(state->read(bytes));
  return Bundle(std::move(state));
}

Result<MappedFile> Bundle::recording() const {
  std::scoped_lock lock(state_->mutex);
  const Fd* file =
      TRY(state_->expand(state_->members[state_->by_name.find(kRecordingName)->second]));
  return MappedFile::map(file->get(), state_->name);
}

std::string Bundle::file(std::string_view build_id, std::string_view name) const {
  auto found = state_->by_build_id.find(fmt::format("{}/{}", to_hex(build_id), name));
  return found == state_->by_build_id.end() ? std::string() : state_->path_of(found->second);
}

std::string Bundle::file_at(std::string_view path) const {
  auto found = state_->by_name.find(
      fmt::format("{}{}", kFiles, path.substr(std::min(path.size(), path.find_first_not_of('/')))));
  return found == state_->by_name.end() ? std::string() : state_->path_of(found->second);
}

size_t Bundle::member_count() const {
  return state_->members.size();
}

}  // namespace sonde
