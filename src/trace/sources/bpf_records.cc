#include "trace/sources/bpf_records.h"

#include <algorithm>
#include <cstring>

#include "bpf/programs/syscall_trace.h"

namespace sonde {
namespace {

/// Takes the piece at the front off `rest`. False if the piece is longer than `rest`.
bool take_piece(Bytes& rest, ArgMemory& memory) {
  trace_piece piece;
  if (rest.size() < sizeof piece) return false;
  std::memcpy(&piece, rest.data(), sizeof piece);
  size_t size = piece.size, with_padding = (sizeof piece + size + 7) & ~size_t{7};
  if (with_padding > rest.size() || (piece.arg & TRACE_ARG_MASK) >= 6) return false;
  memory = {.arg = static_cast<uint8_t>(piece.arg & TRACE_ARG_MASK),
            .part = piece.part,
            .at_exit = (piece.arg & TRACE_AT_EXIT) != 0,
            .is_fault = (piece.arg & TRACE_FAULT) != 0,
            .address = piece.address,
            .wanted_bytes = piece.wanted,
            .bytes = rest.subspan(sizeof piece, size)};
  rest = rest.subspan(with_padding);
  return true;
}

}  // namespace

SyscallAbis host_syscall_abis() {
#if defined(__aarch64__)
  return {SyscallAbi::kArm64, SyscallAbi::kArm};
#else
  return {SyscallAbi::kX86_64, SyscallAbi::kI386};
#endif
}

bool time_of_record(Bytes record, uint64_t& time_ns) {
  if (record.size() < sizeof(trace_record)) return false;
  time_ns = load<uint64_t>(record.data() + offsetof(trace_record, time_ns));
  return true;
}

bool decode_call_record(Bytes bytes, const SyscallAbis& abis, SyscallEvent& call,
                        std::vector<ArgMemory>& memory) {
  memory.clear();
  trace_record record;
  if (bytes.size() < sizeof record) return false;
  std::memcpy(&record, bytes.data(), sizeof record);
  call.abi = record.compat != 0 ? abis.compat : abis.native;
  call.number = record.number;
  call.pid = record.pid;
  call.tid = record.tid;
  call.cpu = static_cast<int32_t>(record.cpu);
  call.has_entry = (record.flags & TRACE_HAS_ENTRY) != 0;
  call.has_exit = (record.flags & TRACE_HAS_EXIT) != 0;
  call.entry_ns = call.has_entry ? record.entry_ns : 0;
  call.exit_ns = call.has_exit ? record.time_ns : 0;
  std::ranges::copy(record.args, call.args.begin());
  call.result = call.has_exit ? record.result : 0;
  call.comm = as_text(bytes.subspan(offsetof(trace_record, comm), sizeof record.comm));
  call.comm = call.comm.substr(0, call.comm.find('\0'));
  Bytes rest = bytes.subspan(sizeof record);
  while (!rest.empty())
    if (!take_piece(rest, memory.emplace_back())) return false;
  call.memory = memory;
  call.files = {};
  return call.has_entry || call.has_exit;
}

}  // namespace sonde
