// BPF programs that are loaded when a recording starts: KSYMBOL records for their JIT-compiled
// functions and BPF_EVENT records, as the kernel writes them for programs that are loaded later.
//
// Needs CAP_BPF or CAP_SYS_ADMIN; without, nothing is written, as there is nothing to see.
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
  /// The content of one entry of the BPF_PROG_INFO section: lengths, info and arrays, pointers made
  /// offsets.
  std::vector<std::byte> stored;
};

/// All that are loaded, by id.
std::vector<LoadedBpfProgram> loaded_bpf_programs();
/// One; nothing where it is gone already.
std::optional<LoadedBpfProgram> loaded_bpf_program(uint32_t id);

/// The raw type information of BTF object `id`.
std::optional<std::vector<std::byte>> bpf_type_info(uint32_t id);

void synthesise_bpf(const abi::EventAttr& attr, ByteBuilder& out);

}  // namespace sonde
