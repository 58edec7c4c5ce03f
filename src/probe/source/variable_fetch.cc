#include "probe/source/variable_fetch.h"

#include <algorithm>
#include <set>

#include "probe/source/code_types.h"
#include "probe/source/member_fetch.h"

namespace sonde {
namespace {

using NodeKind = CodeNode::Kind;

uint64_t entry_address(const ProbeSite& at) {
  return at.function == CodeNode::kNone ? 0 : at.unit->code()[at.function].start;
}

}  // namespace

VariableFetch::VariableFetch(const ProbedCode& code, const DebugCode& debug, const ProbeSite& place)
    : code_(code), at_(place) {
  context_.address = place.address;
  context_.entry = entry_address(place);
  if (place.function == CodeNode::kNone) return;
  const ElfFile* object = code.file();
  context_.base = frame_base_of(place.unit->code().entry(place.function), place.address, object,
                                debug.file().elf());
}

std::string VariableFetch::here() const {
  std::string name(at_.function == CodeNode::kNone ? "" : at_.unit->name(at_.function));
  uint64_t into = context_.address - context_.entry;
  return into == 0 ? name : fmt::format("{}+{}", name, into);
}

std::vector<uint32_t> VariableFetch::variables() const {
  std::vector<uint32_t> found;
  if (at_.scope == CodeNode::kNone) return found;
  const UnitCode& code = at_.unit->code();
  for (uint32_t i = at_.scope + 1; i < code[at_.scope].end;) {
    const CodeNode& node = code[i];
    if (node.is_variable()) found.push_back(i);
    bool is_inside = node.kind == NodeKind::kBlock || node.kind == NodeKind::kInlined;
    i = is_inside && code.covers(node, at_.address) ? i + 1 : node.end;
  }
  return found;
}

std::vector<uint32_t> VariableFetch::globals() const {
  std::vector<uint32_t> found;
  const UnitCode& code = at_.unit->code();
  for (uint32_t i = 0; i < code.nodes().size(); i = code[i].end)
    if (code[i].is_variable()) found.push_back(i);
  return found;
}

ValuePlace VariableFetch::place(uint32_t variable) const {
  return place_of(at_.unit->code().entry(variable), context_);
}

/// The innermost variable of that name that is somewhere; else one that is not. Then those of the
/// functions around an inlined copy, and of the unit.
Result<uint32_t> VariableFetch::find(const std::string& name) {
  const UnitCode& code = at_.unit->code();
  std::optional<uint32_t> found;
  int found_rank = 0;
  auto consider = [&](uint32_t node, int rank) {
    if (at_.unit->name(node) != name) return;
    ValuePlace where = place(node);
    if (where.kind == ValuePlace::Kind::kNone && !code[node].is_external) rank -= 100;
    if (found && rank < found_rank) return;
    found = node;
    found_rank = rank;
  };
  // What is inlined below the scope comes after the scope's own variables.
  for (uint32_t node : variables()) {
    bool is_own = true;
    int depth = 0;
    for (uint32_t up = code[node].parent; up != at_.scope && up != CodeNode::kNone;
         up = code[up].parent) {
      is_own &= code[up].kind != NodeKind::kInlined;
      ++depth;
    }
    consider(node, is_own ? 50 + std::min(depth, 40) : 1);
  }
  if (found && found_rank > 0) return *found;
  for (uint32_t i = 0; i < code.nodes().size();) {
    bool is_scope = code[i].kind == NodeKind::kScope;
    if (code[i].is_variable()) {
      size_t scope = name.rfind("::");
      if (scope == std::string::npos)
        consider(i, 0);
      else if (at_.unit->name(i) == std::string_view(name).substr(scope + 2) &&
               ("::" + at_.unit->qualified_name(i)).ends_with("::" + name))
        found = i;
    }
    i = is_scope ? i + 1 : code[i].end;
  }
  if (found) return *found;
  return fail(ErrorCode::kNotFound, "{} has no variable '{}' at {}: list them with -V",
              code_.description(), name, here());
}

Result<FetchText> VariableFetch::static_fetch(uint32_t variable, int64_t address) {
  auto where = static_cast<uint64_t>(address);
  if (code_.in_kernel()) {
    const CodeSymbol* symbol = code_.linked_symbols().at(where);
    std::string name(symbol != nullptr ? symbol->name : at_.unit->name(variable));
    if (!code_.module().empty()) name = code_.module() + ":" + name;
    return FetchText::of_symbol("@" + name, 0);
  }
  // The tracer adds an offset in the file to where the file begins, which it knows from the probe;
  // data lies elsewhere relative to that than in the file (kernel documentation, "Uprobe-tracer").
  auto offset = code_.file()->segments().offset_of(ElfAddr(at_.address));
  if (!offset)
    return fail(ErrorCode::kUnsupported, "{:#x} is in no segment of {}", at_.address, code_.path());
  return FetchText::of_file_offset(where - at_.address + offset->value);
}

Result<FetchText> VariableFetch::fetch_of(uint32_t variable, const std::string& name) {
  ValuePlace where = place(variable);
  if (where.kind == ValuePlace::Kind::kNone && at_.unit->code()[variable].is_external) {
    // Defined in another unit.
    uint64_t address = code_.linked_symbols().address_of(name);
    if (address != 0) where = {.kind = ValuePlace::Kind::kStatic, .offsets = {int64_t(address)}};
  }
  FetchText fetch = FetchText::of_constant(0);
  size_t next = 0;
  switch (where.kind) {
    case ValuePlace::Kind::kNone:
      return fail(ErrorCode::kNotFound,
                  "'{}' is optimised out at {} ({:#x}): -V --range shows where it is known", name,
                  here(), context_.address);
    case ValuePlace::Kind::kUnsupported:
      return fail(ErrorCode::kUnsupported, "'{}' cannot be fetched at {} ({:#x}): {}", name, here(),
                  context_.address, where.reason);
    case ValuePlace::Kind::kConstant:
      return FetchText::of_constant(where.offsets[0]);
    case ValuePlace::Kind::kAddressOf:
      return FetchText::of_address(TRY(static_fetch(variable, where.offsets[0])));
    case ValuePlace::Kind::kStatic:
      fetch = TRY(static_fetch(variable, where.offsets[0]));
      next = 1;
      break;
    default: {
      auto reg = fetch_register(where.reg, code_.machine());
      if (!reg)
        return fail(ErrorCode::kUnsupported,
                    "'{}' is in a floating-point or vector register at {}, which probes cannot "
                    "read: probe where it is in memory",
                    name, here());
      fetch = FetchText::of_register(*reg);
    }
  }
  for (; next < where.offsets.size(); ++next) fetch.follow(where.offsets[next], false);
  return fetch;
}

Result<std::string> VariableFetch::text_of_argument(const RequestedArgument& argument) {
  uint32_t variable = TRY(find(argument.what));
  FetchText start = TRY(fetch_of(variable, argument.what));
  DwarfValueTypes types;
  return member_fetch(std::move(start), types.of(at_.unit->facts(variable).type), argument, types);
}

Result<> VariableFetch::add_all(const RequestedArgument& argument, std::vector<std::string>& texts,
                                std::vector<std::string>& notes) {
  bool with_locals = argument.kind == RequestedArgument::Kind::kAllVars;
  std::set<std::string_view> seen;
  for (uint32_t node : variables()) {
    bool is_parameter = at_.unit->code()[node].kind == NodeKind::kParameter;
    std::string_view name = at_.unit->name(node);
    if (name.empty() || (!is_parameter && !with_locals)) continue;
    ValuePlace where = place(node);
    bool is_constant =
        where.kind == ValuePlace::Kind::kConstant && where.reason.empty() && !where.begins_plainly;
    if (where.kind == ValuePlace::Kind::kNone) continue;
    if (!where.begins_plainly && !is_constant) {
      notes.push_back(fmt::format("'{}' is left out: {}", name, where.reason));
      continue;
    }
    if (!seen.insert(name).second) continue;
    RequestedArgument one{.kind = RequestedArgument::Kind::kVariable,
                          .what = std::string(name),
                          .type = argument.type,
                          .user_memory = argument.user_memory,
                          .text = std::string(name)};
    auto text = text_of_argument(one);
    if (text)
      texts.push_back(unique_fetch_name(one, texts) + "=" + *text);
    else
      notes.push_back(fmt::format("left out: {}", text.error().message));
  }
  return {};
}

Result<> VariableFetch::add(const RequestedArgument& argument, std::vector<std::string>& texts,
                            std::vector<std::string>& notes) {
  using Asked = RequestedArgument::Kind;
  if (argument.kind == Asked::kAllParams || argument.kind == Asked::kAllVars)
    return add_all(argument, texts, notes);
  std::string text = TRY(text_of_argument(argument));
  texts.push_back(unique_fetch_name(argument, texts) + "=" + text);
  return {};
}

}  // namespace sonde
