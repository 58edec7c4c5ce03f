// FetchedValue: what a fetch argument of a probe ("size=+8(%di):u32") reads, step by step, as BPF
// programs do it from the context of the probe, a struct pt_regs. It is what the tracer records for
// the same argument (kernel documentation, "Uprobe-tracer", "Kprobe-based Event Tracing").
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "probe/probe_definition.h"

namespace sonde {

/// A value: an origin, then memory that pointers lead to, then bits of what is there.
struct FetchedValue {
  enum class Origin : uint8_t {
    kConstant,
    kRegister,    // number: where it is in struct pt_regs
    kFromOrigin,  // number: how far from the probed instruction
  };
  struct Step {
    int64_t offset = 0;
    bool user = false;
  };
  Origin origin = Origin::kConstant;
  int64_t number = 0;
  std::vector<Step> steps = {};  // innermost first
  uint32_t bits = 64;            // of the register or memory
  uint32_t shift = 0, width = 64;
  bool is_signed = false;
};

struct PrologueSetting {
  uint16_t machine = 0;  // EM_*: whose struct pt_regs the context is
  /// The address of a kernel symbol, which may be preceded by "MODULE:"; 0 if there is none.
  std::function<uint64_t(std::string_view)> symbol_address = {};
};

/// Errors: kUnsupported for text, arrays and other machines than x86-64 and arm64, and for what is
/// no fetch argument of a number.
[[nodiscard]] Result<FetchedValue> parse_fetched_value(std::string_view argument,
                                                       const ProbePlace& place,
                                                       const PrologueSetting& setting);

/// Where struct pt_regs has the address of the probed instruction.
[[nodiscard]] int16_t instruction_pointer_offset(uint16_t machine);

}  // namespace sonde
