#include "probe/source/line_walk.h"

namespace sonde {
namespace {

using NodeKind = CodeNode::Kind;

void visit_declaration(SourceUnit& unit, uint32_t node, const VisitLine& visit) {
  uint64_t start = unit.code()[node].start;
  std::string file = unit.declared_in(node);
  if (start != 0 && !file.empty() && unit.facts(node).line != 0)
    visit({file, unit.facts(node).line, start});
}

/// Calls and declarations of what was inlined into a function; not of what is inlined into that,
/// unless `deep`.
void visit_inlined(SourceUnit& unit, uint32_t function, bool deep, const VisitLine& visit) {
  const UnitCode& code = unit.code();
  for (uint32_t i = function + 1; i < code[function].end;) {
    const CodeNode& node = code[i];
    if (node.kind != NodeKind::kInlined) {
      // Nested functions have lines of their own.
      i = node.kind == NodeKind::kFunction ? node.end : i + 1;
      continue;
    }
    std::string caller = unit.called_in(i);
    if (node.start != 0 && !caller.empty()) visit({caller, node.call_line, node.start});
    if (deep) visit_declaration(unit, i, visit);
    i = deep ? i + 1 : node.end;
  }
}

/// The innermost inlined copy inside `function` at an address; kNone if there is none.
uint32_t inlined_at(const UnitCode& code, uint32_t function, uint64_t address) {
  uint32_t found = CodeNode::kNone;
  for (uint32_t i = function + 1, end = code[function].end; i < end;) {
    const CodeNode& node = code[i];
    bool is_inside = !node.is_variable() && code.covers(node, address);
    if (is_inside && node.kind == NodeKind::kInlined) {
      found = i;
      end = node.end;
    }
    i = is_inside ? i + 1 : node.end;
  }
  return found;
}

}  // namespace

void walk_lines(SourceUnit& unit, const VisitLine& visit) {
  for (const LineProgram::Row& row : unit.rows().rows()) {
    const std::string& file = unit.rows().path(row.file);
    if (row.is_statement && row.line != 0 && !file.empty()) visit({file, row.line, row.addr});
  }
  const UnitCode& code = unit.code();
  for (uint32_t i = 0; i < code.nodes().size(); ++i) {
    if (code[i].kind != NodeKind::kFunction) continue;
    visit_declaration(unit, i, visit);
    visit_inlined(unit, i, true, visit);
  }
}

void walk_lines_of(SourceUnit& unit, uint32_t function, const VisitLine& visit) {
  const UnitCode& code = unit.code();
  std::string own_file = unit.declared_in(function);
  uint32_t own_line = unit.facts(function).line;
  for (const LineProgram::Row& row : unit.rows().rows()) {
    const std::string& file = unit.rows().path(row.file);
    if (!row.is_statement || row.line == 0 || file.empty()) continue;
    if (!code.covers(code[function], row.addr)) continue;
    uint32_t inner = inlined_at(code, function, row.addr);
    if (inner != CodeNode::kNone) {
      bool is_call = code[inner].call_line == row.line && unit.called_in(inner) == own_file;
      // A recursive function, inlined into itself, has the same lines.
      bool is_same = unit.facts(inner).line == own_line && unit.declared_in(inner) == own_file;
      if (!is_call && !is_same) continue;
    }
    visit({file, row.line, row.addr});
  }
  visit_declaration(unit, function, visit);
  visit_inlined(unit, function, false, visit);
}

LineAt line_at(SourceUnit& unit, uint64_t address) {
  const UnitCode& code = unit.code();
  uint32_t function = code.function_at(address);
  if (function != CodeNode::kNone && code[function].start == address)
    return {unit.declared_in(function), unit.facts(function).line};
  const LineProgram::Row* row = unit.rows().statement_at(address);
  return row == nullptr ? LineAt() : LineAt{unit.rows().path(row->file), row->line};
}

}  // namespace sonde
