// System calls by name and number, from one table (syscalls.def).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sonde::abi {

struct SyscallInfo {
  static constexpr int kNone = -1;
  std::string_view name;         // "fstat"
  std::string_view kernel_name;  // "newfstat", as in syscalls:sys_enter_newfstat
  int x86_64 = kNone;
  int generic = kNone;  // arm64, RISC-V
  int i386 = kNone;     // 32-bit programs on x86-64
  int arm = kNone;      // 32-bit programs on arm64 (EABI)

  /// On the architecture that this program is built for.
  [[nodiscard]] constexpr int number() const {
#if defined(__x86_64__)
    return x86_64;
#else
    return generic;
#endif
  }
};

[[nodiscard]] std::span<const SyscallInfo> syscalls();
/// This architecture's number of the call with this name in the kernel's tracepoints.
[[nodiscard]] std::optional<uint32_t> syscall_of_tracepoint(std::string_view kernel_name);

}  // namespace sonde::abi
