#include "elf/core_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files/regular_file.h"

namespace sonde {
namespace {

constexpr int kMaxSegments = 4096;
constexpr uint64_t kMaxAtOnce = uint64_t{64} << 20;

}  // namespace

Result<CoreFile> CoreFile::open(const std::string& path) {
  CoreFile core;
  core.fd_ = TRY(open_regular(path));
  constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  Header& header = core.header_;
  if (!core.read(&header, sizeof header, 0) ||
      std::memcmp(static_cast<const void*>(header.e_ident), ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != kClass || header.e_type != ET_CORE ||
      header.e_phentsize != sizeof(Segment) || header.e_phnum > kMaxSegments)
    return fail(ErrorCode::kUnsupported, "{} is no core file of this machine", path);
  core.segments_.resize(header.e_phnum);
  if (!core.read(core.segments_.data(), core.segments_.size() * sizeof(Segment), header.e_phoff))
    return fail(ErrorCode::kUnsupported, "{}: its segments cannot be read", path);
  return core;
}

bool CoreFile::read(void* to, size_t size, uint64_t offset) const {
  auto* at = static_cast<std::byte*>(to);
  while (size > 0) {
    ssize_t got = ::pread(fd_.get(), at, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
  return true;
}

std::optional<std::vector<std::byte>> CoreFile::memory(uint64_t address, uint64_t size) const {
  if (size > kMaxAtOnce) return std::nullopt;
  for (const Segment& segment : segments_) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    uint64_t inside = address - segment.p_vaddr;
    if (inside >= segment.p_filesz || size > segment.p_filesz - inside) continue;
    std::vector<std::byte> bytes(size);
    if (!read(bytes.data(), size, segment.p_offset + inside)) return std::nullopt;
    return bytes;
  }
  return std::nullopt;
}

}  // namespace sonde
