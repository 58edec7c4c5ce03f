// UnitCode: the code of one unit as its source has it: functions, the functions inlined into them,
// blocks, and the variables of each; with the namespaces and classes around functions.
//
//   node  0  function main      [0x10 0x50)      end 6: its descendants are 1 to 5
//   node  1    parameter argc
//   node  2    block            [0x18 0x40)      end 6
//   node  3      variable n
//   node  4      inlined helper [0x20 0x28)      end 6, called at main.c:12
//   node  5        parameter x
//
// Nodes are in the order of the debug information, parents before their children. What a node is
// called is often said by an entry that it refers to: EntryFacts follows the references.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dwarf/dwarf_file.h"
#include "dwarf/dwarf_ranges.h"

namespace sonde {

struct CodeNode {
  enum class Kind : uint8_t { kScope, kFunction, kInlined, kBlock, kVariable, kParameter };
  static constexpr uint32_t kNone = UINT32_MAX;

  Kind kind = Kind::kBlock;
  bool may_be_inlined = false;  // of a function: it is an abstract one, of which copies exist
  bool is_external = false;     // of a variable: it is declared for other units
  uint64_t entry = 0;           // offset in the unit's section
  uint64_t origin = 0;          // offset of the abstract one in the same unit; 0: none
  uint32_t parent = kNone;
  uint32_t end = 0;  // one after its last descendant
  uint32_t first_range = 0, range_count = 0;
  uint64_t start = 0;  // where its code is entered; 0: it has none
  uint64_t call_file = 0;
  uint32_t call_line = 0;  // of an inlined copy

  [[nodiscard]] bool has_code() const { return range_count > 0; }
  [[nodiscard]] bool is_variable() const {
    return kind == Kind::kVariable || kind == Kind::kParameter;
  }
};

class UnitCode {
 public:
  /// All of a unit; damaged parts are left out.
  static UnitCode read(const DwarfUnit& unit);

  [[nodiscard]] const DwarfUnit& unit() const { return *unit_; }
  [[nodiscard]] std::span<const CodeNode> nodes() const { return nodes_; }
  [[nodiscard]] const CodeNode& operator[](uint32_t index) const { return nodes_[index]; }
  [[nodiscard]] DwarfEntry entry(uint32_t index) const { return {unit_, nodes_[index].entry}; }
  [[nodiscard]] std::span<const CodeRange> ranges(const CodeNode& node) const {
    return std::span(ranges_).subspan(node.first_range, node.range_count);
  }
  [[nodiscard]] bool covers(const CodeNode& node, uint64_t address) const;
  /// The end of the range in which the code is entered; 0 without code.
  [[nodiscard]] uint64_t end_of_entry(const CodeNode& node) const;

  /// The function with code at an address; kNone if there is none.
  [[nodiscard]] uint32_t function_at(uint64_t address) const;
  /// The functions at an address: the one that has the code, then those inlined into it, from the
  /// outside in.
  [[nodiscard]] std::vector<uint32_t> functions_at(uint64_t address) const;
  /// Whether the locations of any variable change with the address, as compilers that optimise
  /// write them.
  [[nodiscard]] bool is_optimised() const { return is_optimised_; }
  [[nodiscard]] bool is_rust() const { return is_rust_; }

 private:
  friend class UnitCodeReader;
  const DwarfUnit* unit_ = nullptr;
  std::vector<CodeNode> nodes_;
  std::vector<CodeRange> ranges_;
  std::vector<uint32_t> functions_;  // those with code
  bool is_optimised_ = false;
  bool is_rust_ = false;
};

class EntryCursor;

/// Where classes contain functions that have code. GCC puts the definitions of C++ beside the
/// classes, which have declarations only; but those that are local to functions, as the types of
/// lambda expressions are, contain the definitions.
enum class RecordCode : uint8_t { kNever, kInFunctions, kAnywhere };
/// Of a unit, by its first entry.
[[nodiscard]] RecordCode code_in_records(const EntryCursor& root);

/// What an entry says, completed by the entries that it refers to (DW_AT_abstract_origin,
/// DW_AT_specification).
struct EntryFacts {
  std::string_view name, linkage_name;
  const DwarfUnit* file_unit = nullptr;  // the unit that numbers the file; null: no file
  uint64_t file = 0;
  uint32_t line = 0;
  DwarfEntry type;

  static EntryFacts of(DwarfEntry entry);
};

}  // namespace sonde
