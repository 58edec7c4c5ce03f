#include "trace/views/call_texts.h"

#include <fmt/format.h>

#include <cstring>
#include <iterator>

#include "trace/arguments/syscall_table.h"

namespace sonde {

std::string_view CallTexts::name(SyscallAbi abi, uint32_t number) {
  if (const Syscall* call = SyscallTable::get().find(abi, number)) return call->name;
  unknown_ = fmt::format("sys_{}", number);
  return unknown_;
}

void CallTexts::append_arguments(const SyscallEvent& event, std::string& out) {
  const Syscall* call = SyscallTable::get().find(event.abi, event.number);
  if (call != nullptr) return sonde::append_arguments(out, event, *call, fds_, style_, &types_);
  for (size_t i = 0; i < event.args.size(); ++i)
    fmt::format_to(std::back_inserter(out), "{}arg{}: {:#x}", i > 0 ? ", " : "", i, event.args[i]);
}

void CallTexts::append_result(const SyscallEvent& event, std::string& out) {
  const Syscall* call = SyscallTable::get().find(event.abi, event.number);
  if (call != nullptr) return sonde::append_result(out, event, *call, fds_, style_);
  fmt::format_to(std::back_inserter(out), "{}", event.result);
}

void CallTexts::follow(const SyscallEvent& event) {
  if (const Syscall* call = SyscallTable::get().find(event.abi, event.number))
    fds_.follow(event, *call);
}

std::string CallTexts::error_name(int number) {
  const char* name = ::strerrorname_np(number);
  return name != nullptr ? name : fmt::format("ERRNO_{}", number);
}

bool CallTexts::never_returns(SyscallAbi abi, uint32_t number) {
  const Syscall* call = SyscallTable::get().find(abi, number);
  return call != nullptr && (call->name == "exit" || call->name == "exit_group");
}

void write_tool_stats(const FdNames::Counts& counts, Sink& out) {
  out.print("Stats:\n  vfs_getname : {}\n proc_getname: {}\n", counts.seen, counts.asked);
}

}  // namespace sonde
