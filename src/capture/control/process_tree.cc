#include "capture/control/process_tree.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "capture/opening/thread_map.h"

namespace sonde {
namespace {

std::optional<pid_t> parent_of(pid_t pid) {
  // proc(5): "PID (name) state ppid …"; the name may hold anything.
  std::string stat = read_file(fmt::format("/proc/{}/stat", pid)).value_or("");
  size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::vector<std::string_view> fields = split(std::string_view(stat).substr(name_end + 1), ' ');
  std::optional<uint64_t> parent = fields.size() > 2 ? parse_number(fields[2]) : std::nullopt;
  return parent ? std::optional(static_cast<pid_t>(*parent)) : std::nullopt;
}

/// A process that cannot turn into another one of the same number.
class HeldProcess {
 public:
  explicit HeldProcess(pid_t pid)
      : pid_(pid), fd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const {
    if (fd_.valid())
      ::syscall(SYS_pidfd_send_signal, fd_.get(), number, nullptr, 0);
    else
      ::kill(pid_, number);  // Linux before 5.3 has no such descriptors
  }

 private:
  pid_t pid_;
  Fd fd_;
};

}  // namespace

void kill_with_descendants(pid_t child) {
  std::vector<HeldProcess> tree;
  tree.emplace_back(child);
  if (parent_of(child) != ::getpid()) return;
  tree.front().signal(SIGSTOP);
  auto is_in_tree = [&](std::optional<pid_t> pid) {
    return pid && std::ranges::find(tree, *pid, &HeldProcess::pid) != tree.end();
  };
  // A stop takes effect a moment later, and what was started until then is found by another look.
  constexpr int kMostLooks = 1000;
  bool any_new = true;
  for (int look = 0; any_new && look < kMostLooks; ++look) {
    any_new = false;
    for (pid_t pid : numeric_entries("/proc")) {
      if (is_in_tree(pid) || !is_in_tree(parent_of(pid))) continue;
      HeldProcess process(pid);
      if (!is_in_tree(parent_of(pid))) continue;  // another one may have got the number
      process.signal(SIGSTOP);
      tree.push_back(std::move(process));
      any_new = true;
    }
  }
  for (const HeldProcess& process : tree) process.signal(SIGKILL);
}

}  // namespace sonde
