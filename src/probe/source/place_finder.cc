#include "probe/source/place_finder.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "probe/source/line_walk.h"

namespace sonde {
namespace {

using NodeKind = CodeNode::Kind;

std::string without_blanks(std::string_view text) {
  std::string left;
  for (char c : text)
    if (c != ' ' && c != '\t' && c != '\r') left += c;
  return left;
}

}  // namespace

Result<> FoundPlaces::check_number(const RequestedProbe& request, const ProbedCode& code,
                                   const PlanOptions& options) const {
  if (places.size() <= options.max_probes) return {};
  return fail(ErrorCode::kUnsupported,
              "'{}' is at {} places in {}, more than {}: raise --max-probes", request.text,
              places.size(), code.description(), options.max_probes);
}

FoundPlaces PlaceFinder::find(bool no_inlines) {
  no_inlines_ = no_inlines;
  if (request_.address) {
    find_address(*request_.address);
    return std::move(found_);
  }
  if (!request_.function.empty()) {
    for (const NamedFunctions& some : debug_.functions_named(request_.function))
      find_functions(*some.unit, some.nodes);
    return std::move(found_);
  }
  for (SourceUnit* unit : debug_.units_with_file(request_.source)) {
    std::set<std::string> seen;
    for (const std::string& file : unit->files()) {
      if (!has_tail(file, request_.source) || !seen.insert(file).second) continue;
      if (request_.pattern.empty())
        find_line(*unit, file, request_.line.value_or(0));
      else
        find_pattern(*unit, file, CodeNode::kNone);
    }
  }
  return std::move(found_);
}

/// A function with copies is found where the abstract one is declared, with its copies in the order
/// of the debug information.
void PlaceFinder::find_functions(SourceUnit& unit, std::span<const uint32_t> named) {
  std::vector<std::pair<uint64_t, uint32_t>> nodes;  // by the entry that declares it
  for (uint32_t i : named) {
    const CodeNode& node = unit.code()[i];
    if (!request_.source.empty() && !has_tail(unit.declared_in(i), request_.source)) continue;
    nodes.emplace_back(node.origin != 0 ? node.origin : node.entry, i);
  }
  std::ranges::stable_sort(nodes, {}, &std::pair<uint64_t, uint32_t>::first);
  std::set<uint64_t> done;
  for (const auto& [origin, node] : nodes) {
    if (request_.line && *request_.line > 0) {
      if (done.insert(origin).second)
        find_line(unit, unit.declared_in(node), unit.facts(node).line + *request_.line);
    } else {
      find_function(unit, node);
    }
  }
}

void PlaceFinder::find_function(SourceUnit& unit, uint32_t index) {
  const CodeNode& node = unit.code()[index];
  bool is_copy = node.kind == NodeKind::kInlined;
  if (is_copy && no_inlines_) return;
  if (is_copy && request_.at_return) {
    found_.obstacle = fmt::format("{} is inlined, so it does not return: probe a line after it",
                                  request_.function);
    return;
  }
  // A call in the line of the function's own declaration: the same code, said twice.
  if (is_copy && node.call_line == unit.facts(index).line &&
      unit.called_in(index) == unit.declared_in(index))
    return;
  if (!request_.pattern.empty()) return find_pattern(unit, unit.declared_in(index), index);
  uint64_t address = node.start;
  bool is_plain = !request_.at_return && !request_.offset.value_or(0);
  if (!is_copy && node.origin == 0 && is_plain && !request_.line && wants_variables())
    address = behind_prologue(unit, index);
  add(unit, address + request_.offset.value_or(0), index);
}

bool PlaceFinder::wants_variables() const {
  return std::ranges::any_of(request_.arguments, [](const RequestedArgument& argument) {
    return argument.kind != RequestedArgument::Kind::kFetch;
  });
}

bool PlaceFinder::is_optimised(SourceUnit& unit, uint32_t function) const {
  const UnitCode& code = unit.code();
  if (!code.is_rust()) return code.is_optimised();
  // What rustc instantiates from other crates may be optimised in a unit that is not.
  VariableFetch variables(code_, debug_, {&unit, code[function].start, function, function});
  for (uint32_t i = function + 1; i < code[function].end; i = code[i].end)
    if (code[i].kind == CodeNode::Kind::kParameter &&
        variables.place(i).kind != ValuePlace::Kind::kMemory)
      return true;
  return false;
}

/// Compilers that don't optimise say that a variable has one place in all of the function, which is
/// filled by its first instructions.
uint64_t PlaceFinder::behind_prologue(SourceUnit& unit, uint32_t function) {
  const CodeNode& node = unit.code()[function];
  if (code_.in_kernel() || is_optimised(unit, function)) return node.start;
  uint64_t end = unit.code().end_of_entry(node), second = 0;
  const LineProgram::Row* first = nullptr;
  for (const LineProgram::Row& row : unit.rows().rows()) {
    if (row.addr < node.start || row.addr >= end || row.is_end) continue;
    if (row.ends_prologue) {
      second = row.addr;
      break;
    }
    if (first == nullptr)
      first = &row;
    else if (second == 0 && row.addr != first->addr)
      second = row.addr;
  }
  if (second == 0 || second == node.start) return node.start;
  found_.skipped_prologue = true;
  return second;
}

void PlaceFinder::find_line(SourceUnit& unit, const std::string& file, uint32_t line) {
  if (file.empty()) return;
  walk_lines(unit, [&](const LinePlace& place) {
    if (place.line != line || place.file != file) return;
    LineAt shown = line_at(unit, place.address);
    if (shown.line == line && shown.file == file)
      return add(unit, place.address, scope_of_line(unit, place.address, file, line));
    if (found_.obstacle.empty() && shown.line != 0)
      found_.obstacle = fmt::format("line {} of {} shares its address with line {} of {}", line,
                                    file, shown.line, shown.file == file ? "it" : shown.file);
  });
}

/// Lines whose text, without blanks, matches the pattern.
std::vector<uint32_t> PlaceFinder::lines_matching(const std::string& path,
                                                  std::string_view directory) {
  std::vector<uint32_t> matching;
  auto text = code_.source(path, directory);
  if (!text) {
    found_.obstacle = text.error().message;
    return matching;
  }
  std::string pattern = without_blanks(request_.pattern);
  uint32_t number = 0;
  for (std::string_view line : split(*text, '\n')) {
    ++number;
    if (glob_match(pattern, without_blanks(line))) matching.push_back(number);
  }
  return matching;
}

void PlaceFinder::find_pattern(SourceUnit& unit, const std::string& file, uint32_t function) {
  std::vector<uint32_t> lines = lines_matching(file, unit.unit().directory);
  auto visit = [&](const LinePlace& place) {
    if (place.file != file || !std::ranges::binary_search(lines, place.line)) return;
    add(unit, place.address, scope_of_line(unit, place.address, file, place.line));
  };
  if (function == CodeNode::kNone)
    walk_lines(unit, visit);
  else
    walk_lines_of(unit, function, visit);
}

void PlaceFinder::find_address(uint64_t address) {
  SourceUnit* unit = debug_.unit_at(address);
  if (unit == nullptr) return;
  std::vector<uint32_t> around = unit->code().functions_at(address);
  if (!around.empty()) add(*unit, address, around.back());
}

/// Which of the functions at an address a line belongs to: the one that was asked for; else the one
/// in that file that is declared closest before the line.
uint32_t PlaceFinder::scope_of_line(SourceUnit& unit, uint64_t address, const std::string& file,
                                    uint32_t line) {
  std::vector<uint32_t> around = unit.code().functions_at(address);
  if (around.empty()) return CodeNode::kNone;
  uint32_t best = around.front();
  uint32_t best_line = 0;
  for (uint32_t node : around) {
    if (unit.declared_in(node) != file) continue;
    if (!request_.function.empty()) {
      if (unit.is_named(node, request_.function)) return node;
      continue;
    }
    uint32_t declared = unit.facts(node).line;
    if (declared < line && declared > best_line) {
      best = node;
      best_line = declared;
    }
  }
  return best;
}

void PlaceFinder::add(SourceUnit& unit, uint64_t address, uint32_t scope) {
  ProbeSite place{&unit, address, unit.code().function_at(address), scope};
  if (place.function == CodeNode::kNone || scope == CodeNode::kNone) return;
  if (addresses_.insert(address).second) found_.places.push_back(place);
}

}  // namespace sonde
