// Call frame information in the form that the BPF stack walker reads
// (bpf/unwinding/stack_walker.h): rows by file offset, and rules that all objects share, of which a
// machine has a few thousand.
//
//   WalkRules rules(*walk_machine_of(abi::host_arch()));
//   std::vector<walk_row> rows = walk_rows(table, segments, rules);
//   … rules.added(known) …                rules that the walker does not have yet
//
// The walker knows no DWARF expressions, only what compilers and assemblers make of them: PLT
// entries, signal frames, realigned stacks. Anything else becomes a rule for which the stack is
// copied.
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bpf/programs/stack_walk.h"
#include "dwarf/cfi_table.h"
#include "elf/segment_map.h"

namespace sonde {

class WalkRules {
 public:
  explicit WalkRules(const walk_machine& machine);
  [[nodiscard]] const walk_machine& machine() const { return machine_; }
  /// The rule's number. When there is no room for another one: that of the rule that ends chains.
  uint32_t number_of(const walk_rule& rule);
  /// Adds another object's rules, and gives its rows the numbers that they have here.
  void adopt(const WalkRules& others, std::span<walk_row> rows);
  /// Those from this number on; they are never forgotten.
  [[nodiscard]] std::span<const walk_rule> added(size_t from) const {
    return std::span(rules_).subspan(from);
  }
  [[nodiscard]] size_t size() const { return rules_.size(); }

 private:
  static constexpr uint32_t kNotExpressible = 1;
  walk_machine machine_;
  std::vector<walk_rule> rules_;  // 0: nothing is known
  std::map<std::string, uint32_t, std::less<>> numbers_;
};

/// A rule of an object for this machine, as the walker understands it.
[[nodiscard]] walk_rule walk_rule_of(const CfiTable& table, const UnwindRule& rule,
                                     const walk_machine& machine);

/// The rows of an object's executable segments, by file offset.
[[nodiscard]] std::vector<walk_row> walk_rows(const CfiTable& table, const SegmentMap& segments,
                                              WalkRules& rules);

/// The bytes of stack that most of the code from one file offset to another has from the stack
/// pointer to the frame's end; 0 if that is not counted from the stack pointer.
[[nodiscard]] uint32_t usual_frame_bytes(std::span<const walk_row> rows, const WalkRules& rules,
                                         uint64_t start, uint64_t end);

}  // namespace sonde
