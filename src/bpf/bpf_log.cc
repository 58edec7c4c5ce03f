#include "bpf/bpf_log.h"

#include <cerrno>
#include <cstring>

#include <bpf/libbpf.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "base/expansion_allowance.h"
#include "base/process/seccomp.h"
#include "base/text.h"

namespace sonde {
namespace {

// libbpf's callback has no context argument, so the text it fills belongs to the thread.
thread_local std::string collected;
thread_local libbpf_print_fn_t before = nullptr;

int collect(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  // The verifier's log arrives as one message, which may be long.
  va_list again;
  va_copy(again, arguments);
  int size = std::vsnprintf(nullptr, 0, format, arguments);
  if (size > 0) {
    size_t before_size = collected.size();
    collected.resize(before_size + static_cast<size_t>(size) + 1);
    (void)std::vsnprintf(collected.data() + before_size, static_cast<size_t>(size) + 1, format,
                         again);
    collected.pop_back();
  }
  va_end(again);
  return size;
}

/// The verifier's last statement about the program, before its statistics.
std::string_view verifiers_verdict(std::string_view text) {
  size_t begin = text.find("-- BEGIN PROG LOAD LOG --");
  if (begin == std::string_view::npos) return {};
  std::string_view last;
  std::vector<std::string_view> lines = split(text.substr(begin), '\n');
  for (std::string_view line : std::span(lines).subspan(1)) {
    if (line.starts_with("-- END") || line.starts_with("processed ")) break;
    if (!trim(line).empty()) last = trim(line);
  }
  return last;
}

/// What libbpf says before it goes on: it raises the limit of locked memory because older kernels
/// count maps against it, and does not know that the next call fails for another reason.
bool is_about_locked_memory(std::string_view line) {
  return line.find("RLIMIT_MEMLOCK") != std::string_view::npos;
}

/// What libbpf looked for in the kernel's type information: all of it, or a function, tracepoint or
/// structure that older kernels do not have. Empty: nothing was missing.
std::string what_the_kernel_lacks(std::string_view text) {
  for (std::string_view lacks_all : {"failed to find valid kernel BTF", "Error loading vmlinux BTF",
                                     "vmlinux BTF is not found", "failed to get target BTF"})
    if (text.find(lacks_all) != std::string_view::npos)
      return "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF), or it cannot be read";
  constexpr std::string_view kLacksOne = "failed to find kernel BTF type ID of '";
  size_t found = text.find(kLacksOne);
  if (found == std::string_view::npos) return {};
  std::string_view name = text.substr(found + kLacksOne.size());
  return fmt::format("this kernel has no {}", name.substr(0, name.find('\'')));
}

/// capabilities(7): CAP_SYS_ADMIN stands for the two that exist since Linux 5.8.
bool may_load_programs() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  uint64_t effective = data[0].effective | uint64_t{data[1].effective} << 32;
  auto has = [effective](unsigned capability) { return (effective >> capability & 1) != 0; };
  return has(CAP_SYS_ADMIN) || (has(CAP_BPF) && has(CAP_PERFMON));
}

}  // namespace

std::string why_bpf_is_not_permitted() {
  if (!may_load_programs()) return "this needs root, or CAP_BPF and CAP_PERFMON";
  if (seccomp_refuses_bpf(Sys::host())) return seccomp_advice("bpf");
  return "this process has the capabilities, so a container's user namespace, a security module or "
         "kernel lockdown forbids it";
}

BpfLog::BpfLog() {
  ExpansionAllowance::of_process().become_recorder();  // whoever loads programs measures
  collected.clear();
  before = libbpf_set_print(collect);
}

BpfLog::~BpfLog() {
  libbpf_set_print(before);
}

const std::string& BpfLog::text() const {
  return collected;
}

std::string BpfLog::cause() const {
  std::string found;
  if (std::string lacking = what_the_kernel_lacks(collected); !lacking.empty()) return lacking;
  for (std::string_view line : split(collected, '\n'))
    if (!trim(line).empty() && !line.starts_with("-- ") && !is_about_locked_memory(line) &&
        found.empty())
      found = trim(line);
  std::string_view verdict = verifiers_verdict(collected);
  return verdict.empty() ? found : fmt::format("{}: {}", found, verdict);
}

std::unexpected<Error> bpf_refused(const BpfLog& log, std::string_view action,
                                   const BpfSubject& subject) {
  int error = errno;
  bool is_privileged = may_load_programs();
  std::string cause = is_privileged ? log.cause() : "";
  std::string refusal = fmt::format("cannot {} {}: {}{}{}", action, subject.program,
                                    std::strerror(error), cause.empty() ? "" : ": ", cause);
  // The verifier refuses by EACCES, too.
  if (error == EPERM || (error == EACCES && !is_privileged) ||
      (error == ENOSYS && seccomp_refuses_bpf(Sys::host())))
    return fail(ErrorCode::kPermission, "{}; {}", refusal, why_bpf_is_not_permitted());
  return fail(ErrorCode::kUnsupported, "{}{}{}", refusal, subject.instead.empty() ? "" : "; ",
              subject.instead);
}

}  // namespace sonde
