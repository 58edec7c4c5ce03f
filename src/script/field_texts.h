// Single fields of `script` as text, each appended to a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "abi/perf_event.h"
#include "abi/regs.h"
#include "perfdata/records/sample.h"

namespace sonde::script {

/// Decimal, right-aligned; `width` is at most 32.
void append_number(std::string& out, uint64_t value, size_t width, char pad = ' ');
/// "%5d" of a process or thread id.
void append_task_id(std::string& out, uint32_t id);
void append_padded(std::string& out, std::string_view text, size_t width);
/// "[003] "; "[-01] " for none.
void append_cpu(std::string& out, uint32_t cpu);
/// " 1951.702760: "
void append_time(std::string& out, uint64_t ns, bool nanoseconds);
/// "%16x": 16 characters.
void put_hex16(char* to, uint64_t value);
void append_hex16(std::string& out, uint64_t value);
/// The letters of `-F misc` in six columns: the CPU mode, and the meaning of `misc` for that record
/// type.
void append_misc(std::string& out, uint32_t type, uint16_t misc);
/// " ABI:2    AX:0x1 …"; nothing if no registers were sampled.
void append_registers(const SampleRegs& regs, abi::Arch arch, std::string& out);
/// "2026-11-21 15:27:50.233416 ", in the local time zone.
void append_time_of_day(uint64_t ns_since_epoch, bool nanoseconds, std::string& out);
void append_page_size(uint64_t bytes, std::string& out);
/// The hex dump of a bpf-output sample, eight bytes per line, and its string if it is one.
void append_bpf_output(Bytes raw, std::string& out);
/// "/P/-/-/4/TYPE "
/// What a sample made from an instruction trace is: "  tr end  syscall        ". `flags` as in
/// perfdata/records/trace_flags.h.
void append_trace_flags(uint32_t flags, std::string& out);
void append_branch_flags(const abi::BranchEntry& branch, std::string& out);

}  // namespace sonde::script
