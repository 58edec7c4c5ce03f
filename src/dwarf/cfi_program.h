// CfiProgram: runs the instructions of one call frame information entry and reports the state at
// each address where it changes (DWARF 5, section 6.4.2).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dwarf/cfi_rules.h"
#include "dwarf/cfi_section.h"

namespace sonde {

/// The rules at one address. Expressions are views of the section.
struct CfiState {
  CfaFrom cfa_from = CfaFrom::kNothing;
  uint8_t cfa_register = 0;
  bool signs_return = false;  // arm64
  int64_t cfa_offset = 0;
  Bytes cfa_expression;
  struct Register {
    SavedAs how = SavedAs::kSame;
    int64_t value = 0;
    Bytes expression;
  };
  std::array<Register, kUnwindRegisters> registers;
  uint64_t touched = 0;  // bit per register that has a rule
};

class CfiProgram {
 public:
  /// `common` has the alignment factors and the like. `is_arm64` enables arm64's own opcode.
  CfiProgram(const CfiCommon& common, ByteOrder order, bool is_arm64)
      : common_(common), order_(order), is_arm64_(is_arm64) {}

  /// Calls `row(address, state)` for the entry's start and for each address at which the state
  /// changes. Returns false if the program is damaged; rows reported before that remain valid.
  template <typename Row>
  bool run(const CfiEntry& entry, const Row& row);

 private:
  enum class Step : uint8_t { kSame, kMoved, kBad };

  /// Executes one instruction; kMoved if it advanced the address, to `next_`.
  Step execute(ByteCursor& in);
  Step execute_extended(ByteCursor& in, uint8_t opcode);
  Step execute_block(ByteCursor& in, uint8_t opcode);
  Step move_by(uint64_t delta);
  void set(uint64_t reg, SavedAs how, int64_t value, Bytes expression = {});
  void restore(uint64_t reg);
  bool run_initial();

  static constexpr size_t kMaxNesting = 64;  // nested DW_CFA_remember_state

  const CfiCommon& common_;
  ByteOrder order_;
  bool is_arm64_;
  CfiState state_, initial_;
  std::vector<CfiState> remembered_;
  uint64_t address_ = 0;
  uint64_t next_ = 0;
};

template <typename Row>
bool CfiProgram::run(const CfiEntry& entry, const Row& row) {
  address_ = entry.start;
  if (!run_initial()) return false;
  ByteCursor in(entry.program, order_);
  bool good = true;
  while (good && in.left() > 0) {
    Step step = execute(in);
    good = step != Step::kBad && in.ok();
    if (step != Step::kMoved) continue;
    if (next_ < address_ || next_ >= entry.end) break;
    row(address_, static_cast<const CfiState&>(state_));
    address_ = next_;
  }
  row(address_, static_cast<const CfiState&>(state_));
  return good;
}

}  // namespace sonde
