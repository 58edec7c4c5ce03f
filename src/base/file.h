// Files: whole contents, mappings, and owned descriptors.
#pragma once

#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"

namespace sonde {

/// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { reset(); }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

/// A whole file mapped read-only. Empty files map to no bytes. Truncation of the file by another
/// process while it is mapped is not supported.
class MappedFile {
 public:
  /// Regular files only. "failed to open X: No such file or directory" (files/regular_file.h).
  static Result<MappedFile> open(const std::string& path);
  static Result<MappedFile> map(int fd, const std::string& name);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile() { unmap(); }

  [[nodiscard]] Bytes bytes() const { return {data_, size_}; }
  [[nodiscard]] size_t size() const { return size_; }
  /// The kernel takes the pages back; one that is read again comes back from its cache.
  void release_pages() const;
  /// The same for the whole pages in `part`; does nothing if that is not part of the file.
  void release_pages(Bytes part) const;

 private:
  void unmap();
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// The whole content of a regular file (/proc and /sys, too, whose stat sizes are wrong), at most
/// `limit` bytes. For pipes there is read_stream (base/files/regular_file.h).
Result<std::string> read_file(const std::string& path, size_t limit = size_t{1} << 30);

/// Reads `fd` to its end.
Result<std::string> read_all(int fd, const std::string& name, size_t limit);

/// Writes everything or fails with the path and the reason.
Result<> write_all(int fd, const std::string& name, Bytes bytes);

}  // namespace sonde
