#include "store/process_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/files/process_root.h"
#include "base/files/regular_file.h"

namespace sonde {
namespace {

Result<Fd> open_file_of(const std::string& path, const std::optional<ProcessOwner>& owner,
                        bool needs_owner) {
  Fd fd = TRY(open_regular(path, LastLink::kRefuse));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return failed_to_open(path, errno);
  bool is_known = owner ? status.st_uid == owner->uid : !needs_owner;
  if (!is_known && status.st_uid != 0 && status.st_uid != ::geteuid())
    return fail(ErrorCode::kCorrupt,
                "File {} not owned by current user or root, ignoring it: its owner must be the "
                "process's user, as long as that lives, root, or you",
                path);
  if (status.st_nlink > 1)
    return fail(ErrorCode::kCorrupt,
                "{} is ignored: it has a second name, so it may be somebody else's file", path);
  return fd;
}

}  // namespace

Result<Fd> open_process_file(const std::string& path, pid_t pid) {
  return open_file_of(path, owner_of(pid), true);
}

Result<Fd> open_mapped_process_file(const std::string& path, pid_t pid, const std::string& proc) {
  return open_file_of(path, owner_of(pid, proc), false);
}

}  // namespace sonde
