#include "dwarf/function_variables.h"

#include <dwarf.h>

#include <algorithm>

#include "dwarf/entry_cursor.h"

namespace sonde {
namespace {

constexpr int kMaxHops = 16;
constexpr uint32_t kMaxScopeDepth = 128;
/// Per function; no real program has more.
constexpr size_t kMaxVariables = 1 << 18;
constexpr size_t kMaxCodeRanges = 1 << 14;

class VariableReader {
 public:
  explicit VariableReader(FunctionVariables& out) : out_(out) {}

  void run(DwarfEntry function) {
    EntryCursor in(function);
    if (!in.next()) return;
    find_frame_base(in);
    std::vector<CodeRange> code;
    append_code(in, code);
    if (in.has_children()) read_scope(in.unit(), in.behind(), code, 0);
  }

 private:
  void find_frame_base(const EntryCursor& in) {
    std::vector<VariablePiece> pieces;
    DwarfValue base = in.value(DW_AT_frame_base);
    if (!base.bytes.empty()) read_pieces(in.unit(), base.bytes, pieces);
    if (pieces.size() == 1) frame_base_ = pieces[0];
  }

  static void append_code(const EntryCursor& in, std::vector<CodeRange>& code) {
    read_code(in.unit(), in.value(DW_AT_low_pc), in.value(DW_AT_high_pc), in.value(DW_AT_ranges),
              kMaxCodeRanges, code);
  }

  void read_scope(const DwarfUnit& unit, uint64_t first, const std::vector<CodeRange>& code,
                  uint32_t depth) {
    if (depth > kMaxScopeDepth) return;
    EntryCursor in(unit, first);
    while (out_.variables.size() < kMaxVariables && in.next()) {
      switch (in.tag()) {
        case DW_TAG_variable:
        case DW_TAG_formal_parameter:
          add_variable(in, code, depth);
          break;
        case DW_TAG_call_site:
        case DW_TAG_GNU_call_site:
          add_call(in);
          break;
        case DW_TAG_lexical_block:
        case DW_TAG_inlined_subroutine:
        case DW_TAG_try_block:
        case DW_TAG_catch_block: {
          std::vector<CodeRange> inner;
          append_code(in, inner);
          if (in.has_children())
            read_scope(unit, in.behind(), inner.empty() ? code : inner, depth + 1);
          break;
        }
        default:
          break;
      }
      in.skip_children();
    }
  }

  void add_variable(const EntryCursor& in, const std::vector<CodeRange>& code, uint32_t depth) {
    DwarfValue location = in.value(DW_AT_location);
    if (!location) return;
    places_.clear();
    read_places(in.unit(), location, kMaxVariables, places_);
    if (places_.empty()) return;
    DwarfEntry type = type_of_entry(in.entry());
    if (type.unit == nullptr) return;
    for (const PlacedExpression& place : places_) {
      pieces_.clear();
      read_pieces(in.unit(), place.expression, pieces_);
      for (VariablePiece piece : pieces_) {
        if (!to_cfa(piece)) continue;
        for (const CodeRange& range : code) {
          uint64_t low = std::max(place.low, range.low), high = std::min(place.high, range.high);
          if (low >= high) continue;
          if (out_.variables.size() >= kMaxVariables) return;
          out_.variables.push_back({low, high, piece, type, depth});
        }
      }
    }
  }

  /// Makes what is relative to the function's frame base relative to its CFA, or to a register.
  [[nodiscard]] bool to_cfa(VariablePiece& piece) const {
    using Kind = VariablePiece::Kind;
    bool is_memory = piece.kind == Kind::kFrameMemory;
    if (!is_memory && piece.kind != Kind::kFrameValue) return true;
    if (!frame_base_) return false;
    auto more = static_cast<uint64_t>(frame_base_->offset);
    switch (frame_base_->kind) {
      case Kind::kFrameMemory:  // DW_OP_call_frame_cfa
        break;
      case Kind::kValue:
      case Kind::kMemory:
        piece.kind = is_memory ? Kind::kMemory : Kind::kValue;
        piece.reg = frame_base_->reg;
        break;
      default:
        return false;
    }
    piece.offset = static_cast<int64_t>(static_cast<uint64_t>(piece.offset) + more);
    return true;
  }

  void add_call(const EntryCursor& in) {
    bool is_gnu = in.tag() == DW_TAG_GNU_call_site;
    auto address = address_of(in.unit(), in.value(is_gnu ? DW_AT_low_pc : DW_AT_call_return_pc));
    DwarfEntry callee = in.reference(is_gnu ? DW_AT_abstract_origin : DW_AT_call_origin);
    if (!address || callee.unit == nullptr || out_.calls.size() >= kMaxVariables) return;
    out_.calls.push_back({*address, type_of_entry(callee), never_returns(callee)});
  }

  static bool never_returns(DwarfEntry callee) {
    for (int hop = 0; hop < kMaxHops && is_readable(callee); ++hop) {
      EntryCursor in(callee);
      if (!in.next()) break;
      if (in.number(DW_AT_noreturn).value_or(0) != 0) return true;
      DwarfEntry next = in.reference(DW_AT_abstract_origin);
      callee = next.unit != nullptr ? next : in.reference(DW_AT_specification);
    }
    return false;
  }

  FunctionVariables& out_;
  std::optional<VariablePiece> frame_base_;
  std::vector<PlacedExpression> places_;
  std::vector<VariablePiece> pieces_;
};

}  // namespace

FunctionVariables FunctionVariables::read(DwarfEntry function) {
  FunctionVariables found;
  if (!is_readable(function)) return found;
  VariableReader(found).run(function);
  std::ranges::stable_sort(found.variables, [](const PlacedVariable& a, const PlacedVariable& b) {
    return a.low != b.low ? a.low < b.low : a.depth < b.depth;
  });
  std::ranges::stable_sort(found.calls, {}, &CallResult::return_address);
  return found;
}

DwarfEntry type_of_entry(DwarfEntry entry) {
  for (int hop = 0; hop < kMaxHops && is_readable(entry); ++hop) {
    EntryCursor in(entry);
    if (!in.next()) break;
    if (DwarfEntry type = in.reference(DW_AT_type); type.unit != nullptr) return type;
    DwarfEntry next = in.reference(DW_AT_abstract_origin);
    entry = next.unit != nullptr ? next : in.reference(DW_AT_specification);
  }
  return {};
}

}  // namespace sonde
