// The native code of BPF programs, which a recording carries in its BPF_PROG_INFO section.
#pragma once

#include "base/bytes.h"
#include "perfdata/recording.h"

namespace sonde::annotate {

/// The code of the program, or of a function of one, that the kernel had put at `address`; at most
/// `size` bytes. Empty where the recording does not have it.
Bytes bpf_code(const Recording& recording, uint64_t address, uint64_t size);

/// The same in one stored program: struct bpf_prog_info (include/uapi/linux/bpf.h) with its arrays
/// behind it, whose addresses were made offsets.
Bytes bpf_code(Bytes stored, ByteOrder order, uint64_t address, uint64_t size);

}  // namespace sonde::annotate
