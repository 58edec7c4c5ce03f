// The native code of BPF programs, from a recording's BPF_PROG_INFO section.
#pragma once

#include "base/bytes.h"
#include "perfdata/header/features.h"

namespace sonde {

/// The code of the program, or of one of its functions, that was at `address`; at most `size`
/// bytes. Empty if the recording does not have it.
Bytes bpf_code(const Features& features, ByteOrder order, uint64_t address, uint64_t size);

/// The same in one stored program: struct bpf_prog_info (include/uapi/linux/bpf.h) followed by its
/// arrays, whose addresses are stored as offsets.
Bytes bpf_code(Bytes stored, ByteOrder order, uint64_t address, uint64_t size);

}  // namespace sonde
