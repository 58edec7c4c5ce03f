// Samples that a recorder makes itself of call chains that BPF programs have read.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "perfdata/records/sample.h"

namespace sonde {

/// Sets the sample's chain, its IP and its mode from the addresses of a kernel and a user chain,
/// innermost first; either may be empty. `chain` holds what the sample then refers to.
void set_call_chain(std::span<const uint64_t> kernel, std::span<const uint64_t> user,
                    Sample& sample, ByteBuilder& chain);

}  // namespace sonde
