#include "capture/control/temporary_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace sonde {
namespace {

constexpr std::string_view kPrefix = "sonde-recording-";
constexpr std::string_view kUnique = "XXXXXX";

/// Locked; invalid if it is in use, not ours, or no directory.
Fd lock_directory(const std::string& path, int how) {
  Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  bool is_ours = directory.valid() && ::fstat(directory.get(), &status) == 0 &&
                 status.st_uid == ::geteuid() && (status.st_mode & 0777) == 0700 &&
                 ::flock(directory.get(), how) == 0;
  return is_ours ? std::move(directory) : Fd();
}

void remove_left_over(const std::string& parent) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
    std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix) || name.size() != kPrefix.size() + kUnique.size()) continue;
    Fd lock = lock_directory(entry.path(), LOCK_EX | LOCK_NB);
    std::error_code ignored;
    if (lock.valid()) std::filesystem::remove_all(entry.path(), ignored);
  }
}

}  // namespace

Result<TemporaryDirectory> TemporaryDirectory::make(const Env& env) {
  return make_below(env.variable("TMPDIR").value_or("/tmp"));
}

Result<TemporaryDirectory> TemporaryDirectory::make_below(const std::string& parent) {
  remove_left_over(parent);
  // Before it is locked, another command may take it for left over.
  constexpr int kAttempts = 100;
  for (int i = 0; i < kAttempts; ++i) {
    std::string path = fmt::format("{}/{}{}", parent, kPrefix, kUnique);
    if (::mkdtemp(path.data()) == nullptr)
      return fail(ErrorCode::kIo, "cannot make a directory for the recording, {}: {}", path,
                  std::strerror(errno));
    Fd lock = lock_directory(path, LOCK_EX);
    if (lock.valid() && ::access(path.c_str(), F_OK) == 0)
      return TemporaryDirectory(std::move(path), std::move(lock));
  }
  return fail(ErrorCode::kIo, "cannot lock a directory for the recording in {}: set TMPDIR",
              parent);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace sonde
