// StackUnwinder: unwinds a sample's registers and copied stack to a call chain, using the objects'
// call frame information.
//
//   StackUnwinder unwinder(abi::Arch::kX86_64);
//   ChainEnd end = unwinder.unwind(sample, code, limit, addresses);   // leaf first
//
// A caller's address is that of its call: the return address minus one, which perf stores, too. For
// code without call frame information (generated code, assembly) the frame pointer is tried, if it
// points to what looks like a frame. One unwinder serves one worker thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "abi/regs.h"
#include "dwarf/cfi_expression.h"
#include "dwarf/cfi_table.h"
#include "perfdata/records/sample.h"

namespace sonde {

/// On arm64 a signed return address has its signature above a 48-bit address (or 52 bits, which no
/// user space here has).
inline constexpr uint64_t kUserAddressBits = (uint64_t{1} << 48) - 1;

/// The location of an instruction.
struct UnwindPlace {
  bool is_mapped = false;
  const CfiTable* cfi = nullptr;  // of its object; null if it has none
  ElfAddr address;                // in the object
  bool is_vdso = false;           // code that the kernel maps into every process
};

/// The mappings of the process being unwound.
class CodeMap {
 public:
  virtual ~CodeMap() = default;
  [[nodiscard]] virtual UnwindPlace find(uint64_t address) = 0;
};

/// Why a chain has no further frame.
enum class ChainEnd : uint8_t {
  kOutermost,    // the function that starts threads or the program: complete
  kStackCopy,    // the next frame is beyond the copied part of the stack
  kNotMapped,    // the supposed return address is in no known mapping
  kNoRule,       // no call frame information there, and no usable frame pointer
  kBadFrame,     // the information contradicts itself: no register, no way up
  kLimit,        // the requested length was reached
  kNoRegisters,  // the sample has none: a kernel thread, or another architecture
};
inline constexpr size_t kChainEnds = 7;

class StackUnwinder {
 public:
  /// `arch` is the recording's.
  explicit StackUnwinder(abi::Arch arch) : arch_(arch) {}
  [[nodiscard]] static bool knows(abi::Arch arch);

  /// Appends up to `limit` addresses. Without registers or stack, appends nothing.
  ChainEnd unwind(const Sample& sample, CodeMap& code, size_t limit,
                  std::vector<uint64_t>& addresses);
  /// The stack pointer of the outermost frame found.
  [[nodiscard]] uint64_t last_stack_pointer() const { return last_stack_pointer_; }

 private:
  struct Machine;
  class Frame;
  [[nodiscard]] const Machine* machine_of(const Sample& sample) const;

  abi::Arch arch_;
  uint64_t last_stack_pointer_ = 0;
};

}  // namespace sonde
