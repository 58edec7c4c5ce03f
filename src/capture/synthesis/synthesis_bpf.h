// BPF programs that are already loaded when a recording starts: KSYMBOL records for their
// JIT-compiled functions and BPF_EVENT records, as the kernel writes them for programs loaded
// later.
//
// Needs CAP_BPF or CAP_SYS_ADMIN; without them nothing is written, because nothing is visible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "abi/perf_event.h"
#include "base/bytes.h"

namespace sonde {

/// A loaded program, as bpf(BPF_OBJ_GET_INFO_BY_FD) describes it.
struct LoadedBpfProgram {
  struct Function {
    std::string name;  // "bpf_prog_<tag>_<name>"
    uint64_t address = 0;
    uint32_t length = 0;
  };
  uint32_t id = 0;
  uint32_t btf_id = 0;
  std::string tag;  // 8 bytes
  std::vector<Function> functions;
  /// The contents of one entry of the BPF_PROG_INFO section: lengths, info and arrays, with
  /// pointers replaced by offsets.
  std::vector<std::byte> stored;
};

/// All loaded programs, by id.
std::vector<LoadedBpfProgram> loaded_bpf_programs();
/// One program; nothing if it is already gone.
std::optional<LoadedBpfProgram> loaded_bpf_program(uint32_t id);

/// The raw BTF of BTF object `id`.
std::optional<std::vector<std::byte>> bpf_type_info(uint32_t id);

void synthesise_bpf(const abi::EventAttr& attr, ByteBuilder& out);

}  // namespace sonde
