#include "store/file_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

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

/// Lets the kernel copy, without the bytes passing through here; some file systems only share
/// extents. False if it can't between these two.
bool copied_by_kernel(int from, int to, uint64_t size) {
  while (size > 0) {
    ssize_t copied = ::copy_file_range(from, nullptr, to, nullptr, size, 0);
    if (copied <= 0) return false;
    size -= static_cast<uint64_t>(copied);
  }
  return true;
}

Result<> copy(const std::string& from, const std::string& to) {
  Fd source = TRY(open_regular(from));
  struct stat status{};
  if (::fstat(source.get(), &status) != 0)
    return fail(ErrorCode::kIo, "failed to open {}: {}", from, std::strerror(errno));
  NewFile file(to, S_IRUSR | S_IWUSR | (status.st_mode & S_IXUSR));
  TRY(file.opened());
  if (!copied_by_kernel(source.get(), file.fd(), static_cast<uint64_t>(status.st_size))) {
    if (::ftruncate(file.fd(), 0) != 0 || ::lseek(file.fd(), 0, SEEK_SET) != 0)
      return fail(ErrorCode::kIo, "failed to write {}: {}", to, std::strerror(errno));
    MappedFile content = TRY(MappedFile::map(source.get(), from));
    TRY(write_all(file.fd(), to, content.bytes()));
  }
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
