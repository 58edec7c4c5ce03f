// What `kvm stat report` and `kvm stat live` share.
#pragma once

#include <memory>

#include "cli/command.h"
#include "kvm/kvm_live.h"

namespace sonde {

/// --event, --vcpu, -k and -p; `options` must outlive the table.
void declare_kvm_view(FlagTable& flags, KvmOptions& options);

std::unique_ptr<Command> make_kvm_stat_live();

}  // namespace sonde
