#include "base/files/process_root.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace sonde {
namespace {

constexpr int kFileSystemId = 3;  // of "Uid:" and "Gid:": real, effective, saved, file system

/// This thread's alone: the function of the C library changes those of all threads.
bool set_groups(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

/// The numbers after "Uid:" and the like.
std::vector<uint64_t> numbers_of(std::string_view status, std::string_view name) {
  std::vector<uint64_t> numbers;
  for (std::string_view line : split(status, '\n')) {
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    while (true) {
      size_t start = line.find_first_not_of(" \t");
      if (start == std::string_view::npos) return numbers;
      line.remove_prefix(start);
      size_t end = std::min(line.find_first_of(" \t"), line.size());
      if (auto number = parse_number(line.substr(0, end))) numbers.push_back(*number);
      line.remove_prefix(end);
    }
  }
  return numbers;
}

std::optional<ProcessOwner> parse_owner(std::string_view status) {
  std::vector<uint64_t> uids = numbers_of(status, "Uid:"), gids = numbers_of(status, "Gid:");
  if (uids.size() <= kFileSystemId || gids.size() <= kFileSystemId) return std::nullopt;
  ProcessOwner owner{.uid = static_cast<uid_t>(uids[kFileSystemId]),
                     .gid = static_cast<gid_t>(gids[kFileSystemId])};
  for (uint64_t group : numbers_of(status, "Groups:"))
    owner.groups.push_back(static_cast<gid_t>(group));
  return owner;
}

std::string link_text(const std::string& link) {
  std::array<char, 4096> target{};
  ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
  return size <= 0 ? std::string() : std::string(target.data(), static_cast<size_t>(size));
}

std::string way_to(const Fd& fd) {
  return fmt::format("/proc/self/fd/{}", fd.get());
}

}  // namespace

std::optional<ProcessOwner> owner_of(pid_t pid, const std::string& proc) {
  auto status = read_file(fmt::format("{}/{}/status", proc, pid));
  return status ? parse_owner(*status) : std::nullopt;
}

RightsOf::RightsOf(const ProcessOwner& owner) {
  if (::geteuid() != 0 || owner.uid == 0) return;
  changed_ = true;
  // The kernel resets both when a thread's rights change.
  dumpable_ = ::prctl(PR_GET_DUMPABLE);
  ::prctl(PR_GET_PDEATHSIG, &death_signal_);
  int count = ::getgroups(0, nullptr);
  groups_before_.resize(static_cast<size_t>(std::max(count, 0)));
  if (count > 0) (void)!::getgroups(count, groups_before_.data());
  // Not allowed in some user namespaces, whose root has no groups of other people either.
  (void)set_groups(owner.groups);
  gid_before_ = ::setfsgid(owner.gid);
  ::setfsuid(owner.uid);
  // They return what was before, also if they fail.
  valid_ = static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))) == owner.uid;
}

RightsOf::~RightsOf() {
  if (!changed_) return;
  ::setfsuid(::geteuid());
  ::setfsgid(static_cast<gid_t>(gid_before_));
  (void)set_groups(groups_before_);
  if (dumpable_ == 1) ::prctl(PR_SET_DUMPABLE, 1);
  if (death_signal_ != 0) ::prctl(PR_SET_PDEATHSIG, death_signal_);
}

Result<ProcessRoot> ProcessRoot::open(pid_t pid) {
  ProcessRoot opened;
  opened.seen_ = fmt::format("/proc/{}/root", pid);
  // Both of one process, whatever becomes of its number meanwhile.
  Fd process(::open(fmt::format("/proc/{}", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (process.valid())
    opened.root_ = Fd(::openat(process.get(), "root", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened.root_.valid())
    return fail(error_code_of(errno), "the files of process {} cannot be reached: {}", pid,
                std::strerror(errno));
  Fd status(::openat(process.get(), "status", O_RDONLY | O_CLOEXEC));
  auto text = status.valid() ? read_all(status.get(), "status", size_t{1} << 20) : std::string();
  auto owner = text ? parse_owner(*text) : std::nullopt;
  if (!owner) return fail(ErrorCode::kNotFound, "process {} is gone", pid);
  opened.owner_ = std::move(*owner);
  return opened;
}

Result<ProcessRoot> ProcessRoot::at(const std::string& directory) {
  ProcessRoot opened;
  opened.seen_ = directory;
  opened.root_ = Fd(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened.root_.valid()) return failed_to_open(directory, errno);
  return opened;
}

std::string ProcessRoot::seen_name(const std::string& path) const {
  return fmt::format("{}{}{}", seen_, path.starts_with('/') ? "" : "/", path);
}

Result<Fd> ProcessRoot::find(const std::string& path, int flags) const {
  RightsOf rights(owner_);
  if (!rights.valid())
    return fail(ErrorCode::kPermission, "failed to open {}: cannot take the rights of user {}",
                seen_name(path), owner_.uid);
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_PATH | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  Fd fd(static_cast<int>(::syscall(SYS_openat2, root_.get(), path.c_str(), &how, sizeof how)));
  if (!fd.valid()) return failed_to_open(seen_name(path), errno);
  return fd;
}

Result<Fd> ProcessRoot::open_regular(const std::string& path, LastLink last) const {
  Fd found = TRY(find(path, last == LastLink::kRefuse ? O_NOFOLLOW : 0));
  struct stat status{};
  if (::fstat(found.get(), &status) != 0) return failed_to_open(seen_name(path), errno);
  TRY(check_regular(status, seen_name(path)));
  RightsOf rights(owner_);
  if (!rights.valid()) return failed_to_open(seen_name(path), EPERM);
  // The very file that was looked at.
  Fd fd(::open(way_to(found).c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid()) return failed_to_open(seen_name(path), errno);
  return fd;
}

Result<struct stat> ProcessRoot::status_of_regular(const std::string& path) const {
  Fd found = TRY(find(path, 0));
  struct stat status{};
  if (::fstat(found.get(), &status) != 0) return failed_to_open(seen_name(path), errno);
  TRY(check_regular(status, seen_name(path)));
  return status;
}

Result<Fd> ProcessRoot::open_directory(const std::string& path) const {
  return find(path, O_DIRECTORY);
}

std::string ProcessRoot::path_of(const std::string& path) const {
  Result<Fd> found = find(path, 0);
  return found ? seen_name(name_of(*found)) : std::string();
}

std::string ProcessRoot::name_of(const Fd& file) const {
  // The kernel gives the path from the root of the mount namespace; the process may be in a chroot.
  std::string name = link_text(way_to(file)), root = link_text(way_to(root_));
  if (root.size() > 1 && name.starts_with(root + "/")) name.erase(0, root.size());
  return name;
}

std::optional<PathInRoot> path_in_root(const std::string& path) {
  if (!path.starts_with('/')) return std::nullopt;
  size_t at = 0;
  auto next = [&]() -> std::string_view {
    while (true) {
      at = path.find_first_not_of('/', at);
      if (at == std::string::npos) return {};
      size_t end = std::min(path.find('/', at), path.size());
      std::string_view part(path.data() + at, end - at);
      at = end;
      if (part != ".") return part;
    }
  };
  if (next() != "proc") return std::nullopt;
  auto pid = parse_number(next());
  std::string_view part = next();
  if (part == "task") {
    pid = parse_number(next());
    part = next();
  }
  if (!pid || *pid == 0 || *pid > INT32_MAX || part != "root") return std::nullopt;
  return PathInRoot{static_cast<pid_t>(*pid), at < path.size() ? path.substr(at) : "/"};
}

std::string path_below(const std::string& root, std::string_view path) {
  std::string plain = root + std::string(path);
  if (root.empty() || path.empty()) return plain;
  Result<ProcessRoot> directory = ProcessRoot::at(root);
  std::string found = directory ? directory->path_of(std::string(path)) : std::string();
  return found.empty() ? plain : found;
}

Result<Fd> open_directory_of(const std::string& path) {
  if (auto inside = path_in_root(path)) {
    ProcessRoot root = TRY(ProcessRoot::open(inside->pid));
    return root.open_directory(inside->path.substr(0, inside->path.rfind('/') + 1));
  }
  size_t slash = path.rfind('/');
  std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  Fd fd(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return failed_to_open(directory, errno);
  return fd;
}

}  // namespace sonde
