// `-F brstackinsn`: the instructions that ran between the branches of a sample's branch stack.
//
//   	main+16:
//   	0000000000401124	insn: 8d 3c 18
//   	000000000040112d	insn: 75 f0                   	# MISPRED 9 cycles [9] 0.44 IPC
//
// Between the target of one branch and the source of the next, code ran straight through: a block.
// Blocks are printed oldest first; the last one extends to the sample.
#pragma once

#include <span>
#include <string>

#include "replay/branches/branch_counters.h"
#include "script/code_bytes.h"
#include "script/instruction_text.h"
#include "script/source_code.h"

namespace sonde {

struct BranchCodeStyle {
  bool lengths = false;  // brstackinsnlen
  bool srclines = false;
  SourceCode* source = nullptr;  // srccode
  uint32_t max_blocks = 0;       // the newest ones; 0: all
  bool is_shown = false;         // by a terminal: names are made printable
  /// brcntr: of the sample's event; empty: not shown.
  std::span<const BranchCounters::Counter> counted = {};
  const BranchCounters* counters = nullptr;
  bool counter_names = false;              // events' names and numbers, not letters
  const InstructionText* texts = nullptr;  // brstackdisasm: instructions as text; null: as bytes
};

class BranchCode {
 public:
  BranchCode(const Session& session, const CodeBytes& code, const BranchCodeStyle& style,
             const Sample& sample, uint64_t time, std::string& out)
      : session_(session), code_(code), style_(style), sample_(sample), time_(time), out_(out) {}
  void print();

 private:
  enum class Found { kBytes, kNothing, kCrossesIntoKernel };
  Found read_block(uint64_t start, uint64_t end);
  [[nodiscard]] Frame frame_of(uint64_t address) const;
  [[nodiscard]] CodeBytes::Code rest(size_t offset) const;
  void print_oldest(size_t branch);
  void print_block(uint64_t start, uint64_t end, size_t branch);
  void print_last_block();
  void print_sampled_instruction();
  void put_symbol(uint64_t address);
  size_t put_instruction(uint64_t address, size_t offset);
  [[nodiscard]] std::string instruction_at(uint64_t address, const CodeBytes::Code& code) const;
  void put_branch(size_t number, size_t offset, uint32_t instructions);
  void put_counters(size_t branch);
  void put_source(uint64_t address);

  const Session& session_;
  const CodeBytes& code_;
  const BranchCodeStyle& style_;
  const Sample& sample_;
  uint64_t time_;
  std::string& out_;
  CodeBytes::Code block_;
  SymbolId symbol_;  // the last symbol printed
  uint64_t cycles_ = 0;
};

}  // namespace sonde
