// DebugCode: the debug information of an object, as probes need it: units by function name, by
// source file and by address; of each unit its code, its statements, and the names and files of
// both.
//
//   auto debug = TRY(DebugCode::open("/usr/lib/debug/…", {}));
//   for (SourceUnit* unit : debug->units_naming("malloc")) … unit->code() …
//
// Opening reads the first entry of each unit, or what an earlier command kept of them. What is
// known of a unit beyond that is read when it is asked for. Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dwarf/line_index.h"
#include "dwarf/names/function_names.h"
#include "dwarf/split_units.h"
#include "dwarf/statement_rows.h"
#include "dwarf/unit_code.h"
#include "probe/source/debug_index.h"
#include "probe/source/name_search.h"

namespace sonde {

class DebugCode;

class SourceUnit {
 public:
  SourceUnit(DebugCode& debug, const DwarfUnit& unit) : debug_(debug), unit_(unit) {}

  /// False if its entries were split off and cannot be found.
  [[nodiscard]] bool is_readable() { return whole() != nullptr; }
  [[nodiscard]] const UnitCode& code();
  [[nodiscard]] const StatementRows& rows();
  [[nodiscard]] const DwarfUnit& unit() const { return unit_; }

  /// What the node's entry says; remembered.
  const EntryFacts& facts(uint32_t node);
  /// The name in the source, without namespaces: "deposit", "twice<int>".
  std::string_view name(uint32_t node) { return facts(node).name; }
  /// With namespaces and classes: "outer::Account::deposit".
  std::string qualified_name(uint32_t node);
  /// Where a function is declared; empty if that is not known.
  std::string declared_in(uint32_t node);
  /// The file that has the call of an inlined function.
  std::string called_in(uint32_t node);
  /// The functions and copies of functions that have code and are meant by a name; see is_named.
  std::vector<uint32_t> functions_named(std::string_view pattern);
  /// Whether a function is meant by a name, a qualified name, a linkage name, or a glob. Template
  /// arguments may be left out; Rust's "<Type as Trait>::f" is "Type::f", too.
  bool is_named(uint32_t node, std::string_view wanted);

  /// The files of its line table, by number.
  std::vector<std::string> files();

 private:
  const DwarfUnit* whole();
  const LineProgram& header();

  DebugCode& debug_;
  const DwarfUnit& unit_;
  std::optional<const DwarfUnit*> whole_;
  std::optional<UnitCode> code_;
  std::optional<StatementRows> rows_;
  std::optional<LineProgram> header_;
  std::optional<FunctionNames> names_;
  std::unordered_map<uint64_t, EntryFacts> facts_;  // by entry
};

/// Functions of one unit, and copies of them.
struct NamedFunctions {
  SourceUnit* unit = nullptr;
  std::vector<uint32_t> nodes;  // in order
};

class DebugCode {
 public:
  /// kNotFound if the file has no debug information. The units of a large file, and the names of
  /// its functions, come from the disk cache in the directory `object_cache`, or go there; empty:
  /// there is none.
  static Result<std::unique_ptr<DebugCode>> open(const std::string& path,
                                                 const DwarfLocations& places,
                                                 const std::string& object_cache = {});

  [[nodiscard]] const DwarfFile& file() const { return *file_; }

  /// Visits the units that may have a function of that name, or a copy of one, in order, until
  /// `visit` returns true. A glob selects all of them.
  void visit_units_naming(std::string_view function, const std::function<bool(SourceUnit&)>& visit);
  /// The functions of that name and their copies, where they have code; units in order. They are
  /// read on all cores.
  [[nodiscard]] std::vector<NamedFunctions> functions_named(std::string_view name);
  /// The units with a file whose path ends in these components; in order.
  [[nodiscard]] std::vector<SourceUnit*> units_with_file(std::string_view path);
  /// The unit with code at an address; null if there is none.
  [[nodiscard]] SourceUnit* unit_at(uint64_t address);

  /// The path of a file by the number that a unit gives it.
  std::string file_path(const DwarfUnit& unit, uint64_t number);

 private:
  friend class SourceUnit;
  DebugCode(std::unique_ptr<DwarfFile> file, DebugIndex index, std::string program,
            std::string root);
  [[nodiscard]] std::optional<NameSearch> search_for(std::string_view function);

  DebugIndex index_;
  std::unique_ptr<DwarfFile> file_;
  SplitUnits split_;
  std::vector<std::unique_ptr<SourceUnit>> units_;
  std::map<const DwarfUnit*, std::unique_ptr<LineProgram>> programs_;
};

/// Whether `path` ends in the components of `tail`: "/src/net/tcp.c" in "tcp.c" and "net/tcp.c".
[[nodiscard]] bool has_tail(std::string_view path, std::string_view tail);

}  // namespace sonde
