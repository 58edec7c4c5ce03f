#include "store/file_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/files/process_root.h"
#include "base/output/overwriting.h"

namespace sonde {
namespace {

/// A file that gets its name once it is complete.
class NewFile {
 public:
  explicit NewFile(const std::string& path, mode_t mode)
      : path_(path),
        temporary_(fmt::format("{}.{}", path, ::getpid())),
        fd_(make_file(temporary_, mode)) {}
  ~NewFile() {
    if (!named_ && fd_.valid()) ::unlink(temporary_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Result<> opened() const {
    if (fd_.valid()) return {};
    return fail(ErrorCode::kIo, "failed to create {}: {}", path_, std::strerror(errno));
  }
  Result<> give_name() {
    if (::rename(temporary_.c_str(), path_.c_str()) != 0)
      return fail(ErrorCode::kIo, "failed to create {}: {}", path_, std::strerror(errno));
    named_ = true;
    return {};
  }

 private:
  std::string path_;
  std::string temporary_;
  Fd fd_;
  bool named_ = false;
};

/// Bytes of a file that are there.
struct Extent {
  off_t begin, end;
};

/// All that is not a hole, of which a small file may have terabytes.
std::vector<Extent> extents_of(int fd, off_t size) {
  std::vector<Extent> extents;
  for (off_t at = 0; at < size;) {
    off_t begin = ::lseek(fd, at, SEEK_DATA);
    if (begin < 0 && errno == ENXIO) break;
    off_t end = begin < 0 ? -1 : ::lseek(fd, begin, SEEK_HOLE);
    if (end <= at) return {{0, size}};  // a file system that does not tell
    extents.push_back({begin, std::min(end, size)});
    at = end;
  }
  return extents;
}

/// Lets the kernel copy, without the bytes passing through here; some file systems only share
/// extents. False if it can't between these two.
bool copied_by_kernel(int from, int to, Extent part) {
  off_t in = part.begin, out = part.begin;
  while (in < part.end)
    if (::copy_file_range(from, &in, to, &out, static_cast<size_t>(part.end - in), 0) <= 0)
      return false;
  return true;
}

Result<> copy(const std::string& from, const std::string& to) {
  Fd source = TRY(open_regular(from));
  struct stat status{};
  if (::fstat(source.get(), &status) != 0)
    return fail(ErrorCode::kIo, "failed to open {}: {}", from, std::strerror(errno));
  NewFile file(to, S_IRUSR | S_IWUSR | (status.st_mode & S_IXUSR));
  TRY(file.opened());
  std::optional<MappedFile> content;
  for (Extent part : extents_of(source.get(), status.st_size)) {
    if (!content && copied_by_kernel(source.get(), file.fd(), part)) continue;
    if (!content) content = TRY(MappedFile::map(source.get(), from));
    if (::lseek(file.fd(), part.begin, SEEK_SET) < 0)
      return fail(ErrorCode::kIo, "failed to write {}: {}", to, std::strerror(errno));
    auto begin = static_cast<size_t>(part.begin), end = static_cast<size_t>(part.end);
    Bytes bytes = content->bytes();
    end = std::min(end, bytes.size());  // the file may have become shorter
    if (begin < end) TRY(write_all(file.fd(), to, bytes.subspan(begin, end - begin)));
  }
  if (::ftruncate(file.fd(), status.st_size) != 0)
    return fail(ErrorCode::kIo, "failed to write {}: {}", to, std::strerror(errno));
  return file.give_name();
}

}  // namespace

std::string link_target(const std::string& link) {
  std::array<char, 4096> target{};
  ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
  return size <= 0 ? std::string() : std::string(target.data(), static_cast<size_t>(size));
}

Result<> write_whole(const std::string& path, Bytes bytes) {
  NewFile file(path, S_IRUSR | S_IWUSR);
  TRY(file.opened());
  TRY(write_all(file.fd(), path, bytes));
  return file.give_name();
}

Result<> link_or_copy(const std::string& from, const std::string& to) {
  auto status = status_of_regular(from);
  // The owner of a linked file could change it here later, and pays for it as long as it is kept.
  bool is_safe = status && (status->st_uid == 0 || status->st_uid == ::geteuid());
  // Links in /proc (a descriptor, a mapped file) are followed to the file itself; what is in the
  // root of another process is only copied, because it was not opened yet.
  if (is_safe && !path_in_root(from) &&
      ::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) == 0)
    return {};
  return copy(from, to);
}

}  // namespace sonde
