// A system call for tests of the argument printers, with the memory captured for it.
//
//   TestCall("read", {3, 0x7000, 100}, 5).out(1, "hello").perf()
//   // fd: 3, buf: "hello", count: 100
#pragma once

#include <cstring>
#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

#include "trace/arguments/arg_text.h"

namespace sonde {

class TestCall {
 public:
  TestCall(std::string_view name, std::initializer_list<uint64_t> args, int64_t result = 0,
           SyscallAbi abi = SyscallAbi::kX86_64)
      : call_(*SyscallTable::get().find(name)) {
    event_.abi = abi;
    event_.pid = event_.tid = 100;
    event_.has_entry = event_.has_exit = true;
    event_.result = result;
    std::copy(args.begin(), args.end(), event_.args.begin());
  }

  /// The memory that register `arg` pointed to at entry. `wanted`: how many bytes there were to
  /// read, if more.
  TestCall& in(uint8_t arg, std::string_view bytes, uint8_t part = 0, uint32_t wanted = 0) {
    return add(arg, part, false, bytes, wanted);
  }
  TestCall& out(uint8_t arg, std::string_view bytes, uint8_t part = 0, uint32_t wanted = 0) {
    return add(arg, part, true, bytes, wanted);
  }
  /// The call has not returned yet.
  TestCall& unfinished() {
    event_.has_exit = false;
    return *this;
  }

  [[nodiscard]] std::string perf() { return text({}); }
  [[nodiscard]] std::string strace() { return text({.format = ArgFormat::kStrace}); }
  [[nodiscard]] std::string text(const ArgStyle& style) {
    std::string out;
    append_arguments(out, event(), call_, fds_, style);
    return out;
  }
  [[nodiscard]] std::string result(ArgFormat format = ArgFormat::kPerf) {
    std::string out;
    append_result(out, event(), call_, fds_, {.format = format});
    return out;
  }
  const SyscallEvent& event() {
    event_.memory = memory_;
    return event_;
  }
  [[nodiscard]] const Syscall& call() const { return call_; }
  void set_pid(int32_t pid) { event_.pid = event_.tid = pid; }
  void set_comm(std::string_view comm) { event_.comm = comm; }

 private:
  TestCall& add(uint8_t arg, uint8_t part, bool at_exit, std::string_view bytes, uint32_t wanted) {
    const std::string& kept = texts_.emplace_back(bytes);
    memory_.push_back({.arg = arg,
                       .part = part,
                       .at_exit = at_exit,
                       .address = event_.args[arg],
                       .wanted_bytes = std::max(wanted, static_cast<uint32_t>(bytes.size())),
                       .bytes = as_bytes(kept)});
    return *this;
  }

  const Syscall& call_;
  SyscallEvent event_;
  std::vector<ArgMemory> memory_;
  std::deque<std::string> texts_;
  FdNames fds_;
};

/// Integers as laid out in memory, back to back.
template <typename... T>
std::string packed(T... values) {
  std::string bytes;
  auto add = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  (add(values), ...);
  return bytes;
}

}  // namespace sonde
