// argument_prologue: BPF instructions in front of a user's program that fetch the arguments of its
// probe, so that the program gets them as parameters:
//
//   SEC("exec=./app;work=work n p->size")
//   int on_work(void* context, int error, long n, long size) …
//
// perf's convention: up to three arguments; `error` is 0, or another number if an argument could
// not be read, in which case all of them are 0. Numbers have the size and the sign of their types.
// What is fetched is what the tracer records for the same definition (kernel documentation,
// "Uprobe-tracer", "Kprobe-based Event Tracing").
#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "probe/probe_definition.h"
#include "probe/programs/fetched_value.h"

namespace sonde {

constexpr size_t kMaxProgramArguments = 3;

/// To be followed by the program's own instructions; empty if the place has no arguments. Errors:
/// kUnsupported for more than three arguments, text, arrays and other machines than x86-64 and
/// arm64; kBadEvent for what is no fetch argument.
[[nodiscard]] Result<std::vector<bpf_insn>> argument_prologue(const ProbePlace& place,
                                                              const PrologueSetting& setting);

}  // namespace sonde
