#include "stepping/stopped_thread.h"

#ifdef __x86_64__

#include <sys/ptrace.h>
#include <sys/user.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"

namespace sonde {

uint64_t user_word(pid_t tid, size_t offset) {
  errno = 0;
  return static_cast<uint64_t>(::ptrace(PTRACE_PEEKUSER, tid, offset, nullptr));
}

uint64_t ip_of(pid_t tid) {
  return user_word(tid, offsetof(user_regs_struct, rip));
}

std::optional<siginfo_t> signal_info(pid_t tid) {
  siginfo_t info{};
  if (::ptrace(PTRACE_GETSIGINFO, tid, nullptr, &info) != 0) return std::nullopt;
  return info;
}

std::string comm_of(pid_t tid) {
  Result<std::string> comm = read_file(fmt::format("/proc/{}/comm", tid));
  return comm ? std::string(trim(*comm)) : std::string();
}

pid_t status_number(pid_t tid, std::string_view field) {
  Result<std::string> text = read_file(fmt::format("/proc/{}/status", tid));
  if (!text) return 0;
  for (std::string_view line : split(*text, '\n'))
    if (line.starts_with(field) && line.substr(field.size()).starts_with(':'))
      return static_cast<pid_t>(parse_number(trim(line.substr(field.size() + 1))).value_or(0));
  return 0;
}

void set_breakpoints(pid_t tid, std::span<const uint64_t> addresses) {
  constexpr size_t kControl = 7;
  auto put = [&](size_t number, unsigned long value) {
    size_t at = offsetof(user, u_debugreg) + number * sizeof(unsigned long);
    ::ptrace(PTRACE_POKEUSER, tid, at, value);
  };
  put(kControl, 0);
  unsigned long enabled = 0;
  for (size_t i = 0; i < addresses.size(); ++i) {
    put(i, addresses[i]);
    enabled |= 1ul << (2 * i);  // the local bit of each
  }
  if (enabled != 0) put(kControl, enabled);
}

bool has_pending_trap(pid_t tid) {
  Result<std::string> text = read_file(fmt::format("/proc/{}/status", tid));
  if (!text) return false;
  constexpr std::string_view kPending = "\nSigPnd:\t";
  size_t at = text->find(kPending);
  if (at == std::string::npos) return false;
  constexpr size_t kDigits = 16;
  uint64_t set = std::strtoull(text->substr(at + kPending.size(), kDigits).c_str(), nullptr, 16);
  return (set >> (SIGTRAP - 1) & 1) != 0;
}

bool is_group_stop(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

}  // namespace sonde

#endif
