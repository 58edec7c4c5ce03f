#include "dwarf/unit_outline.h"

#include <dwarf.h>

#include <algorithm>

#include "dwarf/entry_cursor.h"
#include "dwarf/variable_location.h"

namespace sonde {
namespace {

constexpr int kMaxNameDepth = 64;
constexpr uint32_t kNoScope = UINT32_MAX;
constexpr size_t kMaxFunctionRanges = 1 << 16;
constexpr size_t kMaxScopeLength = 1000;

class OutlineWalk {
 public:
  OutlineWalk(const DwarfUnit& unit, UnitOutline& out) : in_(unit, unit.entries), out_(out) {}

  void run() {
    if (in_.next() && in_.has_children()) children(kNoScope, 0);
  }

 private:
  void children(uint32_t scope, int depth) {
    while (in_.next()) {
      switch (in_.tag()) {
        case DW_TAG_namespace:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_interface_type: {
          uint32_t around = scope_of_declaration(scope);
          note_scope(around);
          if (!in_.has_children() || depth >= kMaxNameDepth) break;
          uint32_t inside = scope_inside(around);
          children(inside, depth + 1);
          continue;  // its children were already skipped
        }
        case DW_TAG_enumeration_type:
        case DW_TAG_typedef:
          note_scope(scope);
          break;
        case DW_TAG_subprogram:
          add_function();
          break;
        case DW_TAG_variable:
        case DW_TAG_member:
          add_variable();
          break;
        default:
          break;
      }
      in_.skip_children();
    }
  }

  /// Types in type units are outside of the namespaces in which they are declared (DWARF 5, 5.7.1).
  uint32_t scope_of_declaration(uint32_t scope) {
    DwarfEntry declared = in_.reference(DW_AT_specification);
    if (declared.unit != &in_.unit()) return scope;
    auto found = std::ranges::lower_bound(out_.scopes, declared.offset, {},
                                          &std::pair<uint64_t, uint32_t>::first);
    return found != out_.scopes.end() && found->first == declared.offset ? found->second : scope;
  }

  void note_scope(uint32_t scope) {
    if (scope != kNoScope) out_.scopes.emplace_back(in_.entry().offset, scope);
  }

  uint32_t scope_inside(uint32_t around) {
    std::string_view name = in_.text(DW_AT_name);
    if (name.empty()) {
      if (in_.tag() != DW_TAG_namespace) return around;
      name = "(anonymous namespace)";
    }
    std::string full;
    if (around != kNoScope) full = out_.scope_names[around] + "::";
    full += name;
    if (full.size() > kMaxScopeLength) return around;
    out_.scope_names.push_back(std::move(full));
    return static_cast<uint32_t>(out_.scope_names.size() - 1);
  }

  void add_function() {
    code_.clear();
    read_code(in_.unit(), in_.value(DW_AT_low_pc), in_.value(DW_AT_high_pc),
              in_.value(DW_AT_ranges), kMaxFunctionRanges, code_);
    for (const CodeRange& range : code_) out_.functions.push_back({range, in_.entry().offset});
  }

  void add_variable() {
    DwarfValue location = in_.value(DW_AT_location);
    if (location.bytes.empty()) return;
    pieces_.clear();
    read_pieces(in_.unit(), location.bytes, pieces_);
    if (pieces_.size() != 1) return;
    bool is_thread_local = pieces_[0].kind == VariablePiece::Kind::kThread;
    if (!is_thread_local && pieces_[0].kind != VariablePiece::Kind::kStatic) return;
    out_.statics.push_back(
        {static_cast<uint64_t>(pieces_[0].offset), in_.entry().offset, is_thread_local});
  }

  EntryCursor in_;
  UnitOutline& out_;
  std::vector<CodeRange> code_;
  std::vector<VariablePiece> pieces_;
};

}  // namespace

UnitOutline UnitOutline::read(const DwarfUnit& unit) {
  UnitOutline outline;
  if (unit.abbrevs == nullptr) return outline;
  OutlineWalk(unit, outline).run();
  std::ranges::stable_sort(outline.functions, {}, [](const Function& f) { return f.code.low; });
  return outline;
}

std::string_view UnitOutline::scope_of(uint64_t entry) const {
  auto found = std::ranges::lower_bound(scopes, entry, {}, &std::pair<uint64_t, uint32_t>::first);
  return found != scopes.end() && found->first == entry ? scope_names[found->second]
                                                        : std::string_view();
}

uint64_t UnitOutline::function_at(uint64_t address) const {
  auto after = std::ranges::upper_bound(functions, address, {},
                                        [](const Function& f) { return f.code.low; });
  if (after == functions.begin()) return 0;
  const Function& function = *std::prev(after);
  return address < function.code.high ? function.entry : 0;
}

}  // namespace sonde
