#include "base/output/overwriting.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace sonde {

bool begins_like_recording(int fd) {
  std::array<char, 8> magic{};
  if (::pread(fd, magic.data(), magic.size(), 0) != static_cast<ssize_t>(magic.size()))
    return false;
  std::string_view start(magic.data(), magic.size());
  return start == "PERFILE2" || start == "2ELIFREP" || start == "PERFFILE";
}

namespace {

enum class Link : uint8_t { kNone, kTrusted, kOfOthers };

Link link_at(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return Link::kNone;
  bool is_trusted = status.st_uid == 0 || status.st_uid == ::geteuid();
  return is_trusted ? Link::kTrusted : Link::kOfOthers;
}

std::expected<Fd, std::string> open_output(const std::string& path, mode_t mode, bool appends) {
  Link link = link_at(path);
  if (link == Link::kOfOthers)
    return std::unexpected("it is another user's link; remove it, or name another file");
  // No link that came after the look.
  int writes = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY |
               (link == Link::kTrusted ? 0 : O_NOFOLLOW) | (appends ? O_APPEND : 0);
  struct stat status{};
  bool is_special = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  // The content is looked at before it is gone.
  Fd file;
  if (!is_special) file = Fd(::open(path.c_str(), (writes & ~O_ACCMODE) | O_RDWR, mode));
  if (!file.valid()) file = Fd(::open(path.c_str(), writes, mode));
  if (!file.valid() || ::fstat(file.get(), &status) != 0)
    return std::unexpected(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return file;
  if (begins_like_recording(file.get()))
    return std::unexpected("it is a recording; remove it, or name another file");
  if (!appends && ::ftruncate(file.get(), 0) != 0) return std::unexpected(std::strerror(errno));
  return file;
}

}  // namespace

bool is_others_link(const std::string& path) {
  return link_at(path) == Link::kOfOthers;
}

std::expected<Fd, std::string> overwrite(const std::string& path, mode_t mode) {
  return open_output(path, mode, false);
}

std::expected<Fd, std::string> append_to(const std::string& path, mode_t mode) {
  return open_output(path, mode, true);
}

Fd make_file(const std::string& path, mode_t mode) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Fd file(::open(path.c_str(), kFlags, mode));
  if (file.valid() || errno != EEXIST || ::unlink(path.c_str()) != 0) return file;
  return Fd(::open(path.c_str(), kFlags, mode));
}

}  // namespace sonde
