#include "base/file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files/regular_file.h"

namespace sonde {
namespace {

std::unexpected<Error> failed_to(std::string_view verb, const std::string& name, int error) {
  return fail(error_code_of(error), "failed to {} {}: {}", verb, name, std::strerror(error));
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  Fd fd = TRY(open_regular(path));
  return map(fd.get(), path);
}

Result<MappedFile> MappedFile::map(int fd, const std::string& name) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return failed_to("open", name, errno);
  TRY(check_regular(status, name));
  MappedFile file;
  file.size_ = static_cast<size_t>(status.st_size);
  if (file.size_ == 0) return file;
  void* mapped = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd, 0);
  if (mapped == MAP_FAILED) {
    file.size_ = 0;
    return failed_to("map", name, errno);
  }
  file.data_ = static_cast<const std::byte*>(mapped);
  return file;
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

void MappedFile::release_pages() const {
  if (data_ != nullptr) ::madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
}

void MappedFile::release_pages(Bytes part) const {
  if (data_ == nullptr || part.data() < data_ || part.data() + part.size() > data_ + size_) return;
  auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto start = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  auto end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (start < end) ::madvise(reinterpret_cast<void*>(start), end - start, MADV_DONTNEED);
}

void MappedFile::unmap() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

Result<std::string> read_file(const std::string& path, size_t limit) {
  Fd fd = TRY(open_regular(path));
  return read_all(fd.get(), path, limit);
}

Result<std::string> read_all(int fd, const std::string& name, size_t limit) {
  constexpr size_t kFirstChunkSize = 16 * 1024, kMaxChunkSize = 1 << 20;
  std::string text;
  // If the size is known, growing need not copy. The sizes of /proc and /sys files are 0.
  struct stat status{};
  bool has_size = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  // Before that much of it is read: it may consist of holes. Files of /sys claim a page.
  constexpr size_t kLargestPage = 64 * 1024;
  if (has_size && static_cast<size_t>(status.st_size) > std::max(limit, kLargestPage))
    return fail(ErrorCode::kCorrupt, "{} is larger than {} bytes", name, limit);
  if (has_size)
    text.reserve(std::min(static_cast<size_t>(status.st_size), limit) + kFirstChunkSize);
  size_t chunk = kFirstChunkSize;
  while (true) {
    size_t have = text.size();
    text.resize(have + chunk);
    ssize_t got = ::read(fd, text.data() + have, chunk);
    if (got < 0 && errno == EINTR) {
      text.resize(have);
      continue;
    }
    if (got < 0) return failed_to("read", name, errno);
    text.resize(have + static_cast<size_t>(got));
    if (got == 0) return text;
    if (text.size() > limit)
      return fail(ErrorCode::kCorrupt, "{} is larger than {} bytes", name, limit);
    // Files of /proc give a page or less at a time, and what is not filled has been cleared in
    // vain.
    if (static_cast<size_t>(got) < chunk) continue;
    size_t most = has_size ? std::max(text.capacity() - text.size(), kFirstChunkSize) : SIZE_MAX;
    chunk = std::min({chunk * 2, kMaxChunkSize, most});
  }
}

Result<> write_all(int fd, const std::string& name, Bytes bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return failed_to("write", name, errno);
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace sonde
