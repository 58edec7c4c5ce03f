// The program's code as blocks: from an address to the next instruction that may go elsewhere, or
// that events bind to. Each is decoded once, and knows the blocks behind it once they were needed,
// so that following a branch is looking at an entry of a table.
//
//   CodeBlocks blocks(code);
//   uint32_t index = blocks.at(ip, /*is_64_bit=*/true, tsc);
//   const CodeBlock& block = blocks[index];
//   blocks.next(index, /*taken=*/true)      // CodeBlocks::kNone: not yet known
#pragma once

#include <cstdint>
#include <vector>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "pt/flow_decoder.h"
#include "pt/instruction_decoder.h"

namespace sonde::pt {

/// What follows a block's last instruction, and what the trace says about it.
enum class Ending : uint8_t {
  kConditional,
  kJump,
  kCall,
  kReturn,
  kIndirectJump,
  kIndirectCall,
  kFar,            // anything that changes more than the instruction pointer
  kFallsThrough,   // at an instruction that events bind to, or where a block would be too long
  kNotMapped,      // the code behind the block cannot be read
  kNoInstruction,  // what is behind the block is none
};

struct CodeBlock {
  uint32_t count = 0;  // of instructions; may be 0 for the last two endings
  uint32_t next[2] = {UINT32_MAX, UINT32_MAX};  // indices; of a call, [0] is where it returns to
  Ending ending = Ending::kNotMapped;
  uint8_t bindings = 0;  // of the last instruction
  bool is_64_bit = true;
  bool enters = false;  // a call that is one: "call next; next: pop" only asks where it is
  uint64_t ip = 0;      // of the first instruction
  uint64_t behind = 0;  // the address behind the last one
};

class CodeBlocks {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit CodeBlocks(CodeReader& code) : code_(code) {}

  /// The block that begins at an address. Indices are valid until `clear`.
  uint32_t at(uint64_t ip, bool is_64_bit, uint64_t tsc) {
    const Recent& recent = recent_[ip % kMostRecent];
    if (recent.ip == ip && recent.index != kNone && blocks_[recent.index].is_64_bit == is_64_bit)
      return recent.index;
    return look_up(ip, is_64_bit, tsc);
  }
  [[nodiscard]] const CodeBlock& operator[](uint32_t index) const { return blocks_[index]; }
  /// The last instruction; all zeros if the block is empty.
  [[nodiscard]] const Instruction& last(uint32_t index) const { return last_[index]; }
  /// Of a direct jump, call or conditional branch.
  [[nodiscard]] uint64_t target(uint32_t index) const { return targets_[index]; }
  /// The block behind a direct branch, or behind a conditional one that is taken or is not. Its
  /// code is looked up the first time.
  uint32_t behind(uint32_t index, bool taken, uint64_t tsc) {
    uint32_t known = blocks_[index].next[taken];
    return known != kNone ? known : look_up_behind(index, taken, tsc);
  }
  /// Whether `behind` is to be asked no more before `clear`.
  [[nodiscard]] bool is_at_end(uint32_t index, bool taken) const {
    return blocks_[index].next[taken] == kNone && is_full();
  }
  /// Remembers where an indirect branch went the latest time.
  void remember(uint32_t index, uint32_t next) { blocks_[index].next[1] = next; }
  [[nodiscard]] bool is_full() const { return blocks_.size() >= kMostBlocks; }
  /// The code may be another from now on.
  void clear();

 private:
  static constexpr size_t kMostBlocks = size_t{1} << 19, kMostRecent = 4096;

  uint32_t look_up(uint64_t ip, bool is_64_bit, uint64_t tsc);
  uint32_t look_up_behind(uint32_t index, bool taken, uint64_t tsc);
  void decode(CodeBlock& block, Instruction& last, uint64_t& target, uint64_t tsc);

  CodeReader& code_;
  InstructionDecoder decoder_;
  std::vector<CodeBlock> blocks_;
  std::vector<Instruction> last_;
  std::vector<uint64_t> targets_;
  tsl::robin_map<uint64_t, uint32_t, NumberHash> by_address_[2];  // of 32 and of 64 bits
  struct Recent {
    uint64_t ip = 0;
    uint32_t index = kNone;
  };
  std::vector<Recent> recent_ = std::vector<Recent>(kMostRecent);  // by the address's low bits
};

}  // namespace sonde::pt
