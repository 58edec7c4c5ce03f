// Hostile records of traced system calls: each accepted one has its memory inside its own bytes,
// and names of files that are no longer than it is.
#include <cstddef>
#include <cstdint>

#include "fuzz/fuzz_target.h"
#include "trace/sources/bpf_file_names.h"
#include "trace/sources/bpf_records.h"

FUZZ_TARGET(trace_record)(const uint8_t* data, size_t size) {
  using namespace sonde;
  Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  SyscallEvent call;
  std::vector<ArgMemory> memory;
  uint64_t time_ns = 0;
  bool has_time = time_of_record(bytes, time_ns);
  if (!decode_call_record(bytes, host_syscall_abis(), call, memory)) return 0;
  if (!has_time || !(call.has_entry || call.has_exit)) __builtin_trap();
  for (const ArgMemory& piece : call.memory) {
    if (piece.arg >= call.args.size()) __builtin_trap();
    if (piece.bytes.empty()) continue;
    if (piece.bytes.data() < bytes.data() ||
        piece.bytes.data() + piece.bytes.size() > bytes.data() + bytes.size())
      __builtin_trap();
  }
  BpfFileNames names([](int32_t) { return false; });
  constexpr size_t kMostAround = 64;  // "socket:[…]", " (deleted)"
  for (const ArgFile& file : names.take(call))
    if (file.name.size() > bytes.size() + kMostAround) __builtin_trap();
  return 0;
}
