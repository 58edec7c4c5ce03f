#include "abi/syscalls.h"

#include <algorithm>

namespace sonde::abi {
namespace {

constexpr int kNone = SyscallInfo::kNone;
constexpr SyscallInfo kSyscalls[] = {
#define SYSCALL(name, kernel_name, x86_64, generic, i386, arm) \
  {#name, #kernel_name, x86_64, generic, i386, arm},
#include "abi/syscalls.def"
#undef SYSCALL
};

}  // namespace

std::span<const SyscallInfo> syscalls() {
  return kSyscalls;
}

std::optional<uint32_t> syscall_of_tracepoint(std::string_view kernel_name) {
  const auto* found = std::ranges::find(kSyscalls, kernel_name, &SyscallInfo::kernel_name);
  if (found == std::end(kSyscalls) || found->number() < 0) return std::nullopt;
  return static_cast<uint32_t>(found->number());
}

}  // namespace sonde::abi
