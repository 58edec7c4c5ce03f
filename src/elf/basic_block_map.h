// BasicBlockMap: where the compiler put the basic blocks of each function, from the sections that
// clang writes with -fbasic-block-address-map (LLVM, "Extensions", SHT_LLVM_BB_ADDR_MAP):
//
//   version, features                              not in sections of the first type (…_V0)
//   number of ranges                               only with the feature MultiBBRange, else 1
//   of each: address, number of blocks,
//     of each: id, bytes behind the end of the block before it, size, flags
//   counts that a compiler's own profile gave      only with features that say so; skipped
//
// A function that was laid out by a profile has several ranges: its hot part, its cold part.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "elf/elf_file.h"

namespace sonde {

struct BasicBlock {
  ElfAddr addr;
  uint32_t size = 0;  // bytes; may be 0
  uint32_t id = 0;    // the compiler's: of the same source and options it is the same
  bool returns = false;
  bool is_landing_pad = false;  // exceptions lead here
};

class BasicBlockMap {
 public:
  struct Function {
    ElfAddr entry;
    uint32_t first = 0, count = 0;  // of its blocks; not 0
  };

  /// Reads all sections of the kind. kNotFound if there is none; kUnsupported if a newer compiler
  /// wrote it; kCorrupt if it is damaged.
  static Result<BasicBlockMap> read(const ElfFile& file);

  /// In the order of the sections. Functions that the linker discarded are left out.
  [[nodiscard]] std::span<const Function> functions() const { return functions_; }
  /// In the order of the section: the entry first.
  [[nodiscard]] std::span<const BasicBlock> blocks(const Function& function) const {
    return std::span(blocks_).subspan(function.first, function.count);
  }
  /// Of all functions, one after the other.
  [[nodiscard]] std::span<const BasicBlock> blocks() const { return blocks_; }

 private:
  friend class BasicBlockReader;
  std::vector<Function> functions_;
  std::vector<BasicBlock> blocks_;
};

}  // namespace sonde
