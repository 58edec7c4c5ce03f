#include "event/parser/event_branch.h"

#include "abi/perf_event.h"

namespace sonde {
namespace {

struct BranchWord {
  std::string_view option;  // in -j; empty: not available as an option
  std::string_view shown;   // in -vv
  uint64_t bit;
};

// In bit order.
constexpr BranchWord kWords[] = {
    {"u", "USER", abi::kBranchUser},
    {"k", "KERNEL", abi::kBranchKernel},
    {"hv", "HV", abi::kBranchHv},
    {"any", "ANY", abi::kBranchAny},
    {"any_call", "ANY_CALL", abi::kBranchAnyCall},
    {"any_ret", "ANY_RETURN", abi::kBranchAnyReturn},
    {"ind_call", "IND_CALL", abi::kBranchIndCall},
    {"abort_tx", "ABORT_TX", abi::kBranchAbortTx},
    {"in_tx", "IN_TX", abi::kBranchInTx},
    {"no_tx", "NO_TX", abi::kBranchNoTx},
    {"cond", "COND", abi::kBranchCond},
    {"stack", "CALL_STACK", abi::kBranchCallStack},
    {"ind_jmp", "IND_JUMP", abi::kBranchIndJump},
    {"call", "CALL", abi::kBranchCall},
    {"", "NO_FLAGS", abi::kBranchNoFlags},
    {"", "NO_CYCLES", abi::kBranchNoCycles},
    {"save_type", "TYPE_SAVE", abi::kBranchTypeSave},
    {"hw_index", "HW_INDEX", abi::kBranchHwIndex},
    {"priv", "PRIV_SAVE", abi::kBranchPrivSave},
    {"counter", "COUNTERS", abi::kBranchCounters},
};
constexpr uint64_t kPrivilegeBits = abi::kBranchUser | abi::kBranchKernel | abi::kBranchHv;

uint64_t bit_of(std::string_view word) {
  for (const BranchWord& entry : kWords)
    if (!entry.option.empty() && entry.option == word) return entry.bit;
  return 0;
}

}  // namespace

Result<uint64_t> parse_branch_types(std::string_view list) {
  uint64_t bits = 0;
  while (true) {
    // Commas end a term, so inside a term the words may be joined by other characters.
    size_t end = list.find_first_of(",|:");
    std::string_view word = list.substr(0, end);
    uint64_t bit = bit_of(word);
    if (bit == 0) return fail(ErrorCode::kUsage, "unknown branch filter {}, check man page", word);
    bits |= bit;
    if (end == std::string_view::npos) break;
    list.remove_prefix(end + 1);
  }
  if ((bits & ~kPrivilegeBits) == 0) bits |= abi::kBranchAny;
  return bits;
}

std::string branch_types_text(uint64_t bits) {
  std::string text;
  for (const BranchWord& entry : kWords) {
    if ((bits & entry.bit) == 0) continue;
    if (!text.empty()) text += '|';
    text += entry.shown;
  }
  return text;
}

}  // namespace sonde
