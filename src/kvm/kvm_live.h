// `kvm stat live`: the reasons for guest exits, accumulated afresh for each screen.
#pragma once

#include <span>

#include "base/env.h"
#include "base/error.h"
#include "capture/recorders/record_options.h"
#include "kvm/kvm_stat.h"

namespace sonde {

struct KvmLiveOptions {
  RecordOptions record;
  KvmOptions view;
  double display_s = 1;
};

/// Runs until the user ends it (q, or an interrupt), and returns the exit status.
Result<int> run_kvm_live(KvmLiveOptions& options, Env& env);

/// Prints the exit numbers that have no name, in perf's words.
void report_unknown_exits(std::span<const uint64_t> numbers, KvmMachine machine, Env& env);

}  // namespace sonde
