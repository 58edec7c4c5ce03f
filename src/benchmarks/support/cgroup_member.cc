#include "benchmarks/support/cgroup_member.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "capture/synthesis/synthesis_cgroup.h"

namespace sonde {

Result<Fd> open_cgroup_members(const std::string& name, bool threads) {
  auto mount = cgroup_mount();
  if (!mount) return fail(ErrorCode::kNotFound, "cgroup {}: no cgroup hierarchy is mounted", name);
  std::string path = *mount + "/" + name + (threads ? "/cgroup.threads" : "/cgroup.procs");
  Fd members(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (members.valid()) return members;
  return fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kPermission,
              "cgroup {}: {}: {}: make the cgroup first", name, path, std::strerror(errno));
}

bool enter_cgroup(int members) {
  return ::write(members, "0", 1) == 1;  // 0: the writer itself
}

}  // namespace sonde
