// What the stack walker has to know of each processor that it can walk on.
#pragma once

#include <linux/types.h>

#include <optional>

#include "abi/regs.h"
#include "bpf/programs/stack_walk.h"

namespace sonde {

/// nullopt: the walker does not know the architecture. The page size is this machine's.
[[nodiscard]] std::optional<walk_machine> walk_machine_of(abi::Arch arch);

}  // namespace sonde
