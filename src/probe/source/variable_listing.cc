#include "probe/source/variable_listing.h"

#include <optional>
#include <set>

#include "dwarf/entry_cursor.h"
#include "dwarf/variable_location.h"
#include "probe/source/code_types.h"
#include "probe/source/kernel_parameters.h"
#include "probe/source/place_finder.h"
#include "symbol/demangle.h"

#include <dwarf.h>

namespace sonde {
namespace {

constexpr size_t kMaxRanges = 1 << 12;

/// Where a variable has a place, relative to its function: "@<main+[0-18,18-97]>". Without a list
/// it has the same place in all of the block around it.
std::string valid_ranges(const ProbeSite& at, uint32_t variable) {
  const UnitCode& code = at.unit->code();
  EntryCursor in(code.entry(variable));
  if (!in.next()) return {};
  DwarfValue location = in.value(DW_AT_location);
  if (!location) return {};
  std::vector<PlacedExpression> list;
  read_places(in.unit(), location, kMaxRanges, list);
  std::vector<CodeRange> ranges;
  for (const PlacedExpression& one : list)
    if (one.high != UINT64_MAX) ranges.push_back({one.low, one.high});
  bool is_everywhere = !list.empty() && ranges.empty();
  if (is_everywhere) {
    auto block = code.ranges(code[code[variable].parent]);
    ranges.assign(block.begin(), block.end());
  }
  uint64_t entry = code[at.function].start;
  std::string text;
  for (const CodeRange& range : ranges) {
    text += text.empty() ? fmt::format("@<{}+[", at.unit->name(at.function)) : ",";
    text += fmt::format("{}-{}", static_cast<int64_t>(range.low - entry),
                        static_cast<int64_t>(range.high - entry));
  }
  return text.empty() ? text : text + "]>";
}

class VariableLister {
 public:
  VariableLister(const ProbedCode& code, DebugCode& debug, const PlanOptions& options,
                 const NameFilter& filter)
      : code_(code), debug_(debug), options_(options), filter_(filter) {}

  std::string list(const ProbeSite& at) {
    lines_.clear();
    VariableFetch variables(code_, debug_, at);
    for (uint32_t node : variables.variables()) add_local(at, node, variables.place(node));
    if (options_.with_externs)
      for (uint32_t node : variables.globals()) add_global(at, node, variables.place(node));
    std::string text = fmt::format("\t@<{}>\n", one_line(place_name(at)));
    for (const std::string& line : lines_) text += "\t\t" + one_line(line) + "\n";
    if (lines_.empty()) text += "\t\t(No matched variables)\n";
    return text;
  }

 private:
  [[nodiscard]] std::string place_name(const ProbeSite& at) const {
    std::optional<CodeSymbol> symbol = code_.linked_function_at(at.address);
    if (symbol && !is_mangled(symbol->name))
      return fmt::format("{}+{}", symbol->name, at.address - symbol->address);
    return fmt::format("{}+{}", at.unit->name(at.function),
                       at.address - at.unit->code()[at.function].start);
  }

  static bool is_known(const ValuePlace& place) {
    bool is_attribute = place.kind == ValuePlace::Kind::kConstant && place.is_attribute;
    return place.begins_plainly || is_attribute;
  }

  [[nodiscard]] std::string shown(const ProbeSite& at, uint32_t node) const {
    std::string type = shown_type(at.unit->facts(node).type);
    return fmt::format("{}\t{}", type.empty() ? "(unknown_type)" : type, at.unit->name(node));
  }

  void add_local(const ProbeSite& at, uint32_t node, const ValuePlace& place) {
    bool is_here = is_known(place);
    bool is_variable = at.unit->code()[node].kind == CodeNode::Kind::kVariable;
    bool is_elsewhere =
        place.kind == ValuePlace::Kind::kNone && options_.with_ranges && is_variable;
    if ((!is_here && !is_elsewhere) || !filter_.matches(at.unit->name(node))) return;
    if (!options_.with_ranges) {
      lines_.insert(shown(at, node));
      return;
    }
    std::string ranges = valid_ranges(at, node);
    if (ranges.empty()) return;
    lines_.insert(fmt::format("[{}]\t{}\t{}", is_here ? "VAL" : "INV", shown(at, node), ranges));
  }

  void add_global(const ProbeSite& at, uint32_t node, const ValuePlace& place) {
    bool is_here = is_known(place) || at.unit->code()[node].is_external;
    if (!is_here || !filter_.matches(at.unit->name(node))) return;
    lines_.insert((options_.with_ranges ? "[EXT]\t" : "") + shown(at, node));
  }

  const ProbedCode& code_;
  DebugCode& debug_;
  const PlanOptions& options_;
  const NameFilter& filter_;
  std::set<std::string> lines_;
};

/// Of a function of the kernel, from BTF: in the order of the call, since it is all that is known.
Result<std::string> list_parameters(const RequestedProbe& request, const ProbedCode& code,
                                    const NameFilter& filter) {
  bool is_entry = !request.offset.value_or(0) && !request.line.value_or(0) && !request.at_return &&
                  request.pattern.empty() && request.source.empty();
  if (!is_entry || !code.kernel_types())
    return fail(ErrorCode::kNotFound, "'{}' needs debug information, which {} does not have: {}",
                request.text, code.description(), code.debug_advice());
  std::vector<const CodeSymbol*> found = code.symbols().functions(request.function);
  if (found.empty())
    return fail(ErrorCode::kNotFound, "{} has no function '{}': list them with -F",
                code.description(), request.function);
  std::string text = fmt::format("Available variables at {}\n", request.text);
  std::optional<Error> first_error;
  bool is_empty = true;
  for (const CodeSymbol* symbol : found) {
    auto parameters = KernelParameters::of(code, symbol->name);
    if (!parameters) {
      if (!first_error) first_error = parameters.error();
      continue;
    }
    is_empty = false;
    std::set<std::string> lines;
    for (const auto& [type, name] : parameters->shown())
      if (filter.matches(name))
        lines.insert(fmt::format("\t\t{}\t{}\n", one_line(type), one_line(name)));
    text += fmt::format("\t@<{}+0> (parameters only, from BTF)\n", symbol->name);
    for (const std::string& line : lines) text += line;
    if (lines.empty()) text += "\t\t(No matched variables)\n";
  }
  if (is_empty) return std::unexpected(*first_error);
  return text;
}

}  // namespace

Result<std::string> list_variables(const RequestedProbe& request, const ProbedCode& code,
                                   const PlanOptions& options, const NameFilter& filter) {
  auto debug_found = code.debug();
  if (!debug_found && code.in_kernel() && !request.function.empty())
    return list_parameters(request, code, filter);
  DebugCode* debug = TRY(std::move(debug_found));
  FoundPlaces found = PlaceFinder(request, code, *debug).find(options.no_inlines);
  if (found.places.empty())
    return fail(ErrorCode::kNotFound, "{} has no code for '{}'{}{}", code.description(),
                request.text, found.obstacle.empty() ? ": list the lines that do with -L" : ": ",
                found.obstacle);
  TRY(found.check_number(request, code, options));
  std::string text =
      fmt::format("Available variables at {}{}\n",
                  request.function.empty() && !request.address ? "@" : "", request.text);
  VariableLister lister(code, *debug, options, filter);
  for (const ProbeSite& place : found.places) text += lister.list(place);
  return text;
}

}  // namespace sonde
