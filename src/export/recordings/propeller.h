// Propeller: a program laid out anew, block by block, by compiler and linker. Two texts tell them
// how. clang reads the first (-fbasic-block-sections=list=FILE, LLVM's version 1):
//
//   v1
//   m lib/parse.c        the next function is local to what was compiled from this file
//   f parse parse_alias  a function's names
//   c 0 2 5              its hot blocks by id, in order; the others go to a section of their own
//   #cfg 0:250,2:247,1:3 2:250     a comment: how often each block ran, and then went where
//
// lld reads the second (--symbol-ordering-file FILE): the hot parts of the functions in order, then
// the cold parts, NAME.cold.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/sink.h"
#include "export/layout/function_flow.h"

namespace sonde {

struct PropellerLayout {
  struct Block {
    uint32_t id = 0;
    uint64_t count = 0;
    std::vector<std::pair<uint32_t, uint64_t>> next;  // ids and counts
  };
  struct Function {
    std::vector<std::string> names;  // mangled; the first is used where there can be one only
    std::string module;              // empty: the names are of no other function
    std::vector<Block> hot;          // in the order to be; the entry first
    bool has_cold_blocks = false;
  };
  std::vector<Function> functions;  // in the order to be
  // Left out:
  uint64_t unnamed = 0;         // functions without a symbol
  uint64_t cloned = 0;          // whose blocks share ids: an earlier layout copied some
  uint64_t ambiguous = 0;       // local functions of the same name, of which no module is known
  std::string first_ambiguous;  // one of them
};

/// The source file from which the code at an address was compiled; empty if unknown.
using ModuleOf = std::function<std::string(ElfAddr)>;

/// `symbols` has the symbol table of the object; `module_of` is only asked about local functions
/// that share their names.
[[nodiscard]] PropellerLayout propeller_layout(const ProgramFlow& flow, const BasicBlockMap& map,
                                               const ElfFile& symbols, const ModuleOf& module_of);

void write_propeller_clusters(Sink& out, const PropellerLayout& layout);
void write_propeller_symbols(Sink& out, const PropellerLayout& layout);

}  // namespace sonde
