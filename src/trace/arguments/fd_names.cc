#include "trace/arguments/fd_names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace sonde {
namespace {

constexpr uint64_t kCloseOnExec =
    0x80000;  // O_CLOEXEC, SOCK_CLOEXEC, EFD_CLOEXEC …: one bit in all of them
constexpr uint64_t kDescriptor = 1;          // FD_CLOEXEC, MFD_CLOEXEC, EFD…
constexpr int32_t kWorkingDirectory = -100;  // AT_FDCWD
constexpr uint64_t kThread = 0x10000;        // CLONE_THREAD
constexpr uint64_t kFiles = 0x400;           // CLONE_FILES

struct AnonymousFile {
  std::string_view call, name;
};
// /proc's names.
constexpr AnonymousFile kAnonymous[] = {
    {"epoll_create", "anon_inode:[eventpoll]"},
    {"epoll_create1", "anon_inode:[eventpoll]"},
    {"eventfd", "anon_inode:[eventfd]"},
    {"eventfd2", "anon_inode:[eventfd]"},
    {"timerfd_create", "anon_inode:[timerfd]"},
    {"signalfd", "anon_inode:[signalfd]"},
    {"signalfd4", "anon_inode:[signalfd]"},
    {"inotify_init", "anon_inode:inotify"},
    {"inotify_init1", "anon_inode:inotify"},
    {"fanotify_init", "anon_inode:[fanotify]"},
    {"perf_event_open", "anon_inode:[perf_event]"},
    {"pidfd_open", "anon_inode:[pidfd]"},
    {"io_uring_setup", "anon_inode:[io_uring]"},
    {"userfaultfd", "anon_inode:[userfaultfd]"},
};

// The string that argument `arg` pointed to; empty if it was not captured in full.
std::string_view captured_string(const SyscallEvent& event, const Syscall& call, size_t arg) {
  size_t at = register_of(call, arg, event.abi);
  for (const ArgMemory& piece : event.memory) {
    if (piece.arg != at || piece.part != 0 || piece.is_fault) continue;
    std::string_view text = as_text(piece.bytes);
    size_t end = text.find('\0');
    bool is_whole = end != std::string_view::npos || piece.wanted_bytes <= piece.bytes.size();
    return is_whole ? text.substr(0, end) : std::string_view{};
  }
  return {};
}

// Closing by io_uring is no call of its own; programs set FD_CLOEXEC by fcntl and by ioctl.
constexpr std::array<std::string_view, 14> kReplacing = {
    "close",  "close_range", "dup2",    "dup3",  "execve", "execveat", "clone",
    "clone3", "fcntl",       "fcntl64", "ioctl", "chdir",  "fchdir",   "io_uring_setup"};

// Most calls change nothing, and they are frequent: those that do are recognized by their result
// type or name.
bool changes_descriptors(const Syscall& call) {
  constexpr std::array<std::string_view, 10> kNames = {
      "close",    "close_range", "chdir", "fchdir",     "execve",
      "execveat", "pipe",        "pipe2", "socketpair", "ioctl"};
  switch (call.result) {
    case ResultType::k_fd:
    case ResultType::k_fcntl:
    case ResultType::k_nothing:
    case ResultType::k_pid:
      return true;
    case ResultType::k_number:
      return std::ranges::find(kNames, call.name) != kNames.end();
    default:
      return false;
  }
}

}  // namespace

// One finished call and what it changes. Sockets, pipes and descriptors made in other ways are left
// to the source, which is asked when the descriptor is next seen.
struct FdFollower {
  FdNames& names;
  const SyscallEvent& event;
  const Syscall& call;
  FdNames::Process& process;

  [[nodiscard]] int32_t int_argument(size_t i) const {
    size_t at = register_of(call, i, event.abi);
    return at < event.args.size() ? static_cast<int32_t>(event.args[at]) : 0;
  }
  [[nodiscard]] uint64_t flags_argument(size_t i) const {
    return static_cast<uint32_t>(int_argument(i));
  }
  [[nodiscard]] int32_t result() const { return static_cast<int32_t>(event.result); }

  void set(int32_t fd, std::string name, bool closes_on_exec) {
    process.fds[fd] = {
        .name = std::move(name), .since_ns = event.exit_ns, .closes_on_exec = closes_on_exec};
    ++names.counts_.seen;
  }
  void forget(int32_t fd) { process.fds.erase(fd); }
  /// Of the descriptor that argument `i` is.
  [[nodiscard]] std::string name_of_argument(size_t i, int32_t fd) const {
    return std::string(names.name(event, register_of(call, i, event.abi), fd));
  }

  // A path as the program gave it, made absolute if its base directory is known.
  std::string absolute(std::string_view path, int32_t directory) {
    if (path.empty() || path.starts_with('/')) return std::string(path);
    std::string base =
        directory == kWorkingDirectory ? working_directory() : name_of_argument(0, directory);
    if (base.empty()) return std::string(path);
    if (path == ".") return base;
    if (!base.ends_with('/')) base += '/';
    return base + std::string(path);
  }
  std::string working_directory() {
    if (process.directory.empty() && names.source_ != nullptr)
      process.directory = names.source_->working_directory(event.pid);
    return process.directory;
  }

  void opened(int32_t directory, size_t path, uint64_t flags) {
    std::string_view given = captured_string(event, call, path);
    if (given.empty())
      forget(result());
    else
      set(result(), absolute(given, directory), (flags & kCloseOnExec) != 0);
  }
  void copied(int32_t from, int32_t to, bool closes_on_exec) {
    std::string name = name_of_argument(0, from);
    if (name.empty())
      forget(to);
    else
      set(to, std::move(name), closes_on_exec);
  }
  void executed() {
    // It has descriptors of its own now; which of them were closed is not known.
    if (process.is_changed_by_others) process.fds.clear();
    process.is_changed_by_others = false;
    std::erase_if(process.fds, [](const auto& entry) {
      return entry.second.closes_on_exec || entry.second.is_asked;
    });
    names.comms_.erase(event.tid);
  }
  /// Nothing if they were not captured.
  [[nodiscard]] std::optional<uint64_t> clone_flags() const {
    if (call.name == "clone") return event.args[0];
    if (call.name != "clone3") return 0;
    for (const ArgMemory& piece : event.memory)
      if (piece.arg == 0 && piece.part == 0 && piece.bytes.size() >= sizeof(uint64_t))
        return load<uint64_t>(piece.bytes.data());
    return std::nullopt;
  }
  void forked() {
    if (event.result <= 0) return;
    std::optional<uint64_t> flags = clone_flags();
    if (!flags || (*flags & kThread) != 0) return;
    if ((*flags & kFiles) != 0) {
      process.is_changed_by_others = true;
      names.processes_[result()].is_changed_by_others = true;
      return;
    }
    // A parent that waits for its child (vfork) returns after the child's own calls.
    auto known = names.processes_.find(result());
    if (known != names.processes_.end() && known->second.since_ns >= event.entry_ns) return;
    FdNames::Process child = process;
    child.since_ns = event.exit_ns;
    // What was asked after the fork is what the parent has since then.
    std::erase_if(child.fds,
                  [&](const auto& entry) { return entry.second.since_ns > event.entry_ns; });
    names.processes_[result()] = std::move(child);
  }
  void closed_range() {
    constexpr uint64_t kOnlyMark = 4;  // CLOSE_RANGE_CLOEXEC
    auto first = static_cast<uint32_t>(int_argument(0)),
         last = static_cast<uint32_t>(int_argument(1));
    bool only_marks = (flags_argument(2) & kOnlyMark) != 0;
    for (auto entry = process.fds.begin(); entry != process.fds.end();) {
      auto fd = static_cast<uint32_t>(entry->first);
      bool is_in = fd >= first && fd <= last;
      if (is_in && only_marks) entry->second.closes_on_exec = true;
      entry = is_in && !only_marks ? process.fds.erase(entry) : std::next(entry);
    }
  }
  void controlled() {
    constexpr int32_t kDup = 0, kSetFlags = 2, kDupCloseOnExec = 1030;
    int32_t command = int_argument(1);
    if (command == kDup || command == kDupCloseOnExec)
      return copied(int_argument(0), result(), command == kDupCloseOnExec);
    auto found = process.fds.find(int_argument(0));
    if (command == kSetFlags && found != process.fds.end())
      found->second.closes_on_exec = (flags_argument(2) & kDescriptor) != 0;
  }
  void marked() {
    constexpr uint64_t kClear = 0x5450, kSet = 0x5451;  // FIONCLEX, FIOCLEX
    uint64_t command = flags_argument(1);
    auto found = process.fds.find(int_argument(0));
    if ((command == kClear || command == kSet) && found != process.fds.end())
      found->second.closes_on_exec = command == kSet;
  }
  void made_pair(size_t argument) {
    size_t at = register_of(call, argument, event.abi);
    for (const ArgMemory& piece : event.memory) {
      if (piece.arg != at || !piece.at_exit || piece.bytes.size() < 8) continue;
      forget(load<int32_t>(piece.bytes.data()));
      forget(load<int32_t>(piece.bytes.data() + 4));
    }
  }
  void moved_to(std::string directory) { process.directory = std::move(directory); }

  void follow();
  void follow_new_descriptor();
};

void FdFollower::follow_new_descriptor() {
  std::string_view name = call.name;
  if (name == "openat") return opened(int_argument(0), 1, flags_argument(2));
  if (name == "open") return opened(kWorkingDirectory, 0, flags_argument(1));
  if (name == "creat") return opened(kWorkingDirectory, 0, 0);
  if (name == "openat2") return opened(int_argument(0), 1, 0);
  if (name == "dup") return copied(int_argument(0), result(), false);
  if (name == "dup2") return copied(int_argument(0), result(), false);
  if (name == "dup3")
    return copied(int_argument(0), result(), (flags_argument(2) & kCloseOnExec) != 0);
  if (name == "memfd_create") {
    std::string_view given = captured_string(event, call, 0);
    if (!given.empty())
      return set(result(), "/memfd:" + std::string(given), (flags_argument(1) & kDescriptor) != 0);
  }
  if (name == "io_uring_setup") process.is_changed_by_others = true;
  for (const AnonymousFile& file : kAnonymous)
    if (file.call == name) return set(result(), std::string(file.name), false);
  forget(result());
}

void FdFollower::follow() {
  std::string_view name = call.name;
  if (call.result == ResultType::k_fd) return follow_new_descriptor();
  if (name == "close") return forget(int_argument(0));
  if (call.result == ResultType::k_fcntl) return controlled();
  if (name == "execve" || name == "execveat") return executed();
  if (name == "fork" || name == "vfork" || name == "clone" || name == "clone3") return forked();
  if (name == "close_range") return closed_range();
  if (name == "ioctl") return marked();
  if (name == "pipe" || name == "pipe2") return made_pair(0);
  if (name == "socketpair") return made_pair(3);
  if (name == "chdir")
    return moved_to(absolute(captured_string(event, call, 0), kWorkingDirectory));
  if (name == "fchdir") return moved_to(name_of_argument(0, int_argument(0)));
}

FdNames::Process& FdNames::process_of(int32_t pid) {
  auto [found, is_new] = processes_.try_emplace(pid);
  // Immediately: the process may change directory later.
  if (is_new && source_ != nullptr) found->second.directory = source_->working_directory(pid);
  return found->second;
}

std::string_view FdNames::name(const SyscallEvent& event, size_t at, int32_t fd) {
  for (const ArgFile& file : event.files)
    if (file.arg == at && at < event.args.size() && static_cast<int32_t>(event.args[at]) == fd)
      return file.name;
  return name(event.pid, fd, event.has_entry ? event.entry_ns : 0);
}

std::string_view FdNames::name(int32_t pid, int32_t fd, uint64_t at_ns) {
  if (!sees_all_) return {};
  Process& process = process_of(pid);
  if (process.is_changed_by_others) return {};
  auto found = process.fds.find(fd);
  if (found == process.fds.end()) {
    if (source_ == nullptr || fd < 0) return {};
    // An unknown descriptor is cached too; otherwise a process that is gone would be looked up for
    // ever.
    std::string asked = source_->fd(pid, fd);
    if (!asked.empty()) ++counts_.asked;
    Named answer{.name = std::move(asked), .since_ns = source_->now_ns(), .is_asked = true};
    found = process.fds.insert_or_assign(fd, std::move(answer)).first;
  }
  return found->second.since_ns <= at_ns ? std::string_view(found->second.name)
                                         : std::string_view();
}

void FdNames::lost() {
  for (auto& [pid, process] : processes_) process.fds.clear();
}

std::string_view FdNames::comm(int32_t tid) {
  auto found = comms_.find(tid);
  if (found != comms_.end()) return found->second;
  if (source_ == nullptr) return {};
  std::string asked = source_->comm(tid);
  if (asked.empty()) return {};
  return comms_[tid] = std::move(asked);
}

std::span<const std::string_view> calls_that_replace_descriptors() {
  return kReplacing;
}

void FdNames::ended(int32_t pid, int32_t tid) {
  comms_.erase(tid);
  if (pid == tid) processes_.erase(pid);
}

void FdNames::follow(const SyscallEvent& event, const Syscall& call) {
  if (!event.comm.empty()) {
    std::string& comm = comms_[event.tid];
    if (comm != event.comm) comm = event.comm;
  }
  if (!changes_descriptors(call)) return;
  if (call.result == ResultType::k_nothing) {
    if (call.name == "exit_group") processes_.erase(event.pid);
    return;
  }
  FdNames::Process& process = process_of(event.pid);
  if (process.since_ns == 0) process.since_ns = event.has_entry ? event.entry_ns : event.exit_ns;
  // close releases the descriptor even if it fails, unless it was not open.
  if (!event.has_entry || !event.has_exit || event.result < 0) return;
  FdFollower{*this, event, call, process}.follow();
}

}  // namespace sonde
