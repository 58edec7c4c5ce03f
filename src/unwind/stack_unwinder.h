// StackUnwinder: from the registers and the copied piece of stack of a sample to its call chain, by
// the call frame information of the objects.
//
//   StackUnwinder unwinder(abi::Arch::kX86_64);
//   ChainEnd end = unwinder.unwind(sample, code, limit, addresses);   // leaf first
//
// A caller's address is that of its call: the return address less one, which is what perf stores,
// too. Where code has no call frame information (generated code, assembly) the frame pointer is
// tried, if what it points to looks like a frame. One unwinder serves one thread of work.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "abi/regs.h"
#include "dwarf/cfi_expression.h"
#include "dwarf/cfi_table.h"
#include "perfdata/sample.h"

namespace sonde {

/// On arm64 a signed return address bears its signature above an address of 48 bits (or 52, which
/// no user space here has).
inline constexpr uint64_t kUserAddressBits = (uint64_t{1} << 48) - 1;

/// Where an instruction lies.
struct UnwindPlace {
  bool is_mapped = false;
  const CfiTable* cfi = nullptr;  // of its object; null: it has none
  ElfAddr address;                // in the object
  bool is_vdso = false;           // the code that the kernel gives every process
};

/// What is mapped where in the process that is unwound.
class CodeMap {
 public:
  virtual ~CodeMap() = default;
  [[nodiscard]] virtual UnwindPlace find(uint64_t address) = 0;
};

/// Why a chain has no further frame.
enum class ChainEnd : uint8_t {
  kOutermost,    // the function that starts threads or the program: whole
  kStackCopy,    // the next frame lies beyond the piece of stack that was copied
  kNotMapped,    // what should be the return address is in no known mapping
  kNoRule,       // no call frame information there, and no frame pointer to go by
  kBadFrame,     // the information contradicts itself: no register, no way up
  kLimit,        // as long as was asked for
  kNoRegisters,  // the sample has none: a kernel thread, or another architecture
};
inline constexpr size_t kChainEnds = 7;

class StackUnwinder {
 public:
  /// `arch` is that of the recording.
  explicit StackUnwinder(abi::Arch arch) : arch_(arch) {}
  [[nodiscard]] static bool knows(abi::Arch arch);

  /// Appends up to `limit` addresses. Without registers or stack nothing is appended.
  ChainEnd unwind(const Sample& sample, CodeMap& code, size_t limit,
                  std::vector<uint64_t>& addresses);
  /// Of the outermost frame that was found.
  [[nodiscard]] uint64_t last_stack_pointer() const { return last_stack_pointer_; }

 private:
  struct Machine;
  class Frame;
  [[nodiscard]] const Machine* machine_of(const Sample& sample) const;

  abi::Arch arch_;
  uint64_t last_stack_pointer_ = 0;
};

}  // namespace sonde
