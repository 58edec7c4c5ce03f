#include "perfdata/write/recording_place.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "base/output/overwriting.h"
#include "base/text.h"

namespace sonde {
namespace {

constexpr std::string_view kKernelFiles[] = {"kallsyms", "modules", "kcore"};
constexpr std::string_view kRemedy = "or name another output with -o";

/// What has a name.
enum class Occupant {
  kNothing,
  kEmptyFile,
  kFile,       // a recording
  kDirectory,  // a recording
  kSpecial,    // a device or FIFO, or what a descriptor of a process is
  kForeignFile,
  kForeignDirectory,
  kUnreadable,
  kOthersLink,
};

bool is_recording(Occupant what) {
  return what == Occupant::kEmptyFile || what == Occupant::kFile || what == Occupant::kDirectory;
}

std::string_view why_not(Occupant what) {
  switch (what) {
    case Occupant::kForeignFile:
      return "a file that is no recording is there, and is left alone";
    case Occupant::kForeignDirectory:
      return "a directory that is no recording is there, and is left alone";
    case Occupant::kUnreadable:
      return "what is there cannot be read, so it may be no recording, and is left alone";
    case Occupant::kOthersLink:
      return "another user's link is there, and is not followed";
    default:
      return "what is there is no recording, and is left alone";
  }
}

/// "X/" names X.
std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}
bool is_stream(std::string_view name) {
  constexpr std::string_view kData = "data";
  if (!name.starts_with(kData)) return false;
  name.remove_prefix(kData.size());
  return name.empty() || (name.starts_with('.') && is_digits(name.substr(1)));
}
bool is_kernel_copy(std::string_view name) {
  constexpr std::string_view kCopy = "kcore_dir";
  if (!name.starts_with(kCopy)) return false;
  name.remove_prefix(kCopy.size());
  return name.empty() || (name.starts_with("__") && is_digits(name.substr(2)));
}
bool is_kernel_file(std::string_view name) {
  return std::ranges::find(kKernelFiles, name) != std::end(kKernelFiles);
}

Fd open_directory(int at, const char* name) {
  return Fd(::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Nothing if it cannot be read.
std::optional<std::vector<std::string>> names_in(int directory) {
  Fd own = open_directory(directory, ".");
  DIR* entries = own.valid() ? ::fdopendir(own.get()) : nullptr;
  if (entries == nullptr) return std::nullopt;
  (void)own.release();
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(entries)) {
    std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(entries);
  return names;
}

/// The type of a file, of a link itself; 0 if there is none.
mode_t type_in(int directory, const std::string& name) {
  struct stat status{};
  return ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0
             ? status.st_mode & S_IFMT
             : 0;
}

bool is_plain_kernel_copy(int directory) {
  auto names = names_in(directory);
  return names && std::ranges::all_of(*names, [&](const std::string& name) {
           return is_kernel_file(name) && type_in(directory, name) == S_IFREG;
         });
}

bool is_part(int directory, const std::string& name) {
  mode_t type = type_in(directory, name);
  if (is_stream(name)) return type == S_IFREG;
  if (!is_kernel_copy(name) || type != S_IFDIR) return false;
  Fd copy = open_directory(directory, name.c_str());
  return copy.valid() && is_plain_kernel_copy(copy.get());
}

Occupant occupant_of_file(int fd, const struct stat& status) {
  if (status.st_size == 0) return Occupant::kEmptyFile;
  return begins_like_recording(fd) ? Occupant::kFile : Occupant::kForeignFile;
}

Occupant occupant_of_directory(int directory) {
  auto names = names_in(directory);
  if (!names) return Occupant::kUnreadable;
  bool only_parts = std::ranges::all_of(
      *names, [&](const std::string& name) { return is_part(directory, name); });
  Fd data(::openat(directory, "data", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  bool is_one = only_parts && data.valid() && ::fstat(data.get(), &status) == 0 &&
                is_recording(occupant_of_file(data.get(), status));
  return is_one ? Occupant::kDirectory : Occupant::kForeignDirectory;
}

bool is_link(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

Occupant occupant_of(const std::string& path) {
  struct stat status{};
  if (is_others_link(path)) return Occupant::kOthersLink;
  if (::stat(path.c_str(), &status) != 0)
    return errno == ENOENT || errno == ENOTDIR ? Occupant::kNothing : Occupant::kUnreadable;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return Occupant::kSpecial;
  Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return Occupant::kUnreadable;
  return S_ISDIR(status.st_mode) ? occupant_of_directory(file.get())
                                 : occupant_of_file(file.get(), status);
}

/// The names of descriptors and devices (/dev/stdout) stay what they are.
bool stays_in_place(const std::string& path, Occupant what) {
  bool is_name_of_descriptor =
      is_link(path) && (path.starts_with("/dev/") || path.starts_with("/proc/"));
  return what == Occupant::kSpecial || is_name_of_descriptor;
}

/// The process that holds the lock; 0 if the kernel does not tell.
pid_t holder_of(int fd) {
  struct stat status{};
  Result<std::string> locks = read_file("/proc/locks");
  if (!locks || ::fstat(fd, &status) != 0) return 0;
  std::string file =
      fmt::format("{:02x}:{:02x}:{}", major(status.st_dev), minor(status.st_dev), status.st_ino);
  for (std::string_view line : split(*locks, '\n')) {
    std::vector<std::string_view> words;
    for (std::string_view word : split(line, ' '))
      if (!word.empty()) words.push_back(word);
    constexpr size_t kKind = 1, kAccess = 3, kPid = 4, kFile = 5;
    if (words.size() > kFile && words[kKind] == "FLOCK" && words[kAccess] == "WRITE" &&
        words[kFile] == file)
      return static_cast<pid_t>(parse_number(words[kPid]).value_or(0));
  }
  return 0;
}

std::unexpected<Error> in_use(const std::string& path, int fd) {
  pid_t pid = holder_of(fd);
  std::string who = pid > 0 ? fmt::format(" (pid {})", pid) : std::string();
  return fail(ErrorCode::kFailed, "{}: another recorder{} is writing there: wait for its end, {}",
              path, who, kRemedy);
}

/// Takes or tries the lock. File systems that have none go without.
Result<> lock(const std::string& path, int fd, int how) {
  // Someone who only looks whether it is locked holds it for a moment, and so does a recorder that
  // is ending.
  constexpr int kTries = 20;
  constexpr useconds_t kPauseUs = 5000;
  for (int i = 0; i < kTries; ++i) {
    if (::flock(fd, how | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
    ::usleep(kPauseUs);
  }
  return in_use(path, fd);
}

Result<> check_unused(const std::string& path, Occupant what) {
  if (!is_recording(what)) return {};
  std::string file = what == Occupant::kDirectory ? path + "/data" : path;
  Fd fd(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return fd.valid() ? lock(path, fd.get(), LOCK_SH) : Result<>{};
}

/// Whether a recording may be written here, in the place of what is.
Result<> check(const std::string& path, Occupant what) {
  if (what == Occupant::kNothing || what == Occupant::kSpecial) return {};
  if (!is_recording(what))
    return fail(ErrorCode::kFailed, "{}: {}: move it, {}", path, why_not(what), kRemedy);
  return check_unused(path, what);
}

/// Whether `path`, which is a recording, can be renamed to `old`.
Result<> check_old(const std::string& path, const std::string& old, Occupant what) {
  if (what == Occupant::kNothing && !is_link(old)) return {};
  if (!is_recording(what))
    return fail(ErrorCode::kFailed, "{}: {}, so {} cannot be kept there: move one of them, {}", old,
                why_not(what), path, kRemedy);
  return check_unused(old, what);
}

std::unexpected<Error> cannot_remove(const std::string& path) {
  return fail(ErrorCode::kIo, "failed to remove {}: {}", path, std::strerror(errno));
}

Result<> remove_files(int directory, const std::string& path,
                      const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (::unlinkat(directory, name.c_str(), 0) != 0) return cannot_remove(path + "/" + name);
  return {};
}

Result<> remove_kernel_copy_in(int directory, const std::string& name, const std::string& path) {
  Fd copy = open_directory(directory, name.c_str());
  auto names = copy.valid() ? names_in(copy.get()) : std::nullopt;
  if (!names) return cannot_remove(path);
  std::erase_if(*names, [](const std::string& file) { return !is_kernel_file(file); });
  TRY(remove_files(copy.get(), path, *names));
  if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0) return cannot_remove(path);
  return {};
}

/// What became part of it since it was looked at stays, and so does the directory.
Result<> remove_directory(const std::string& path) {
  Fd directory = open_directory(AT_FDCWD, path.c_str());
  auto names = directory.valid() ? names_in(directory.get()) : std::nullopt;
  if (!names) return cannot_remove(path);
  for (const std::string& name : *names)
    if (is_kernel_copy(name)) TRY(remove_kernel_copy_in(directory.get(), name, path + "/" + name));
  std::erase_if(*names, [](const std::string& name) { return !is_stream(name); });
  TRY(remove_files(directory.get(), path, *names));
  if (::rmdir(path.c_str()) != 0) return cannot_remove(path);
  return {};
}

/// A link goes, and what it leads to stays.
Result<> remove(const std::string& path, Occupant what) {
  if (what == Occupant::kDirectory && !is_link(path)) return remove_directory(path);
  if (::unlink(path.c_str()) != 0) return cannot_remove(path);
  return {};
}

}  // namespace

Result<> check_recording_place(const std::string& given, bool keeps) {
  std::string path = without_slashes(given);
  Occupant what = occupant_of(path);
  TRY(check(path, what));
  bool is_kept = keeps && (what == Occupant::kFile || what == Occupant::kDirectory) &&
                 !stays_in_place(path, what);
  return is_kept ? check_old(path, path + ".old", occupant_of(path + ".old")) : Result<>{};
}

Result<> keep_previous(const std::string& given) {
  std::string path = without_slashes(given);
  TRY(check_recording_place(path));
  Occupant what = occupant_of(path);
  if ((what != Occupant::kFile && what != Occupant::kDirectory) || stays_in_place(path, what))
    return {};
  std::string old = path + ".old";
  if (Occupant replaced = occupant_of(old); replaced != Occupant::kNothing)
    TRY(remove(old, replaced));
  if (::rename(path.c_str(), old.c_str()) != 0)
    return fail(ErrorCode::kIo, "failed to rename {} to {}: {}", path, old, std::strerror(errno));
  return {};
}

Result<> clear_recording_place(const std::string& given, bool for_directory) {
  std::string path = without_slashes(given);
  Occupant what = occupant_of(path);
  TRY(check(path, what));
  if (what == Occupant::kNothing || stays_in_place(path, what)) return {};
  if (what == Occupant::kEmptyFile && !for_directory) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0 || status.st_uid == ::geteuid()) return {};
  }
  // Where names cannot be removed, a file's content can be.
  Result<> removed = remove(path, what);
  return what == Occupant::kFile && !for_directory ? Result<>{} : removed;
}

Result<> remove_recording(const std::string& given) {
  std::string path = without_slashes(given);
  Occupant what = occupant_of(path);
  if (what == Occupant::kNothing) return {};
  if (!is_recording(what)) return fail(ErrorCode::kFailed, "{}: {}", path, why_not(what));
  TRY(check_unused(path, what));
  return remove(path, what);
}

Result<Fd> open_recording_file_anew(Sys& sys, const std::string& path) {
  bool follows = is_link(path) && !is_others_link(path);
  int flags = O_RDWR | O_NOCTTY | (follows ? O_CREAT : O_NOFOLLOW);
  // Made by us, or there before: in a directory that others write to that makes a difference.
  auto opened = sys.open(path, flags | O_CREAT | (follows ? 0 : O_EXCL), S_IRUSR | S_IWUSR);
  bool was_there = follows || (!opened && opened.error() == EEXIST);
  if (!opened && opened.error() == EEXIST) opened = sys.open(path, flags, 0);
  if (!opened) {
    ErrorCode code = opened.error() == EACCES || opened.error() == EPERM ? ErrorCode::kPermission
                     : opened.error() == ENOENT                          ? ErrorCode::kNotFound
                                                                         : ErrorCode::kIo;
    return fail(code, "failed to open {} : {}", path, std::strerror(opened.error()));
  }
  Fd fd(*opened);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return fd;
  if (was_there && status.st_uid != ::geteuid() && !stays_in_place(path, Occupant::kEmptyFile))
    return fail(ErrorCode::kPermission,
                "{}: another user's file is there, who could read what is recorded: remove it, {}",
                path, kRemedy);
  TRY(lock(path, fd.get(), LOCK_EX));
  // Something may have come between the check and the lock.
  Occupant what =
      ::fstat(fd.get(), &status) == 0 ? occupant_of_file(fd.get(), status) : Occupant::kUnreadable;
  TRY(check(path, is_recording(what) ? Occupant::kNothing : what));
  if (status.st_size != 0 && ::ftruncate(fd.get(), 0) != 0)
    return fail(ErrorCode::kIo, "failed to empty {}: {}", path, std::strerror(errno));
  return fd;
}

Result<> remove_kernel_copy(const std::string& directory) {
  return remove_kernel_copy_in(AT_FDCWD, directory, directory);
}

}  // namespace sonde
