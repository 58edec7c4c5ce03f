// What `kvm stat report` and `kvm stat live` share.
#pragma once

#include <memory>

#include "analysis/kvm_stat.h"
#include "cmd/command.h"

namespace sonde {

/// --event, --vcpu, -k and -p; `options` must outlive the table.
void declare_kvm_view(FlagTable& flags, KvmOptions& options);
/// Prints the exit numbers that have no name, in perf's words.
void say_unknown_exits(std::span<const uint64_t> numbers, KvmMachine machine, Env& env);

std::unique_ptr<Command> make_kvm_stat_live();

}  // namespace sonde
