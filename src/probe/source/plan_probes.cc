#include "probe/source/plan_probes.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "probe/source/code_types.h"
#include "probe/source/debug_code.h"
#include "probe/source/kernel_parameters.h"
#include "probe/source/place_finder.h"
#include "probe/source/place_text.h"
#include "probe/source/probe_event_name.h"

namespace sonde {
namespace {

std::unexpected<Error> variables_at_return(const RequestedArgument& argument) {
  return fail(
      ErrorCode::kUnsupported,
      "'{}': when a function returns, its variables are gone: record $retval, or probe where "
      "it is entered",
      argument.text);
}

/// What a definition without debug information may ask for.
class SymbolPlanner {
 public:
  SymbolPlanner(const RequestedProbe& request, const ProbedCode& code, const PlanOptions& options)
      : request_(request), code_(code), options_(options) {}

  Result<std::vector<ProbePlan>> plan() const {
    if (request_.address) return plan_address();
    if (request_.function.empty() || request_.line || !request_.pattern.empty())
      return without_debug("source lines need");
    if (!request_.source.empty()) return without_debug("'@" + request_.source + "' needs");
    std::vector<const CodeSymbol*> found = code_.symbols().functions(request_.function);
    if (found.empty())
      return fail(ErrorCode::kNotFound, "{} has no function '{}': list them with -F",
                  code_.description(), request_.function);
    if (found.size() > options_.max_probes)
      return fail(ErrorCode::kUnsupported,
                  "'{}' matches {} functions of {}, more than {}: raise --max-probes",
                  request_.function, found.size(), code_.description(), options_.max_probes);
    std::vector<ProbePlan> plans;
    std::optional<Error> first_error;
    for (const CodeSymbol* symbol : found) {
      auto plan = plan_of(*symbol);
      if (plan)
        plans.push_back(std::move(*plan));
      else if (!first_error)
        first_error = plan.error();
    }
    if (plans.empty()) return std::unexpected(*first_error);
    if (first_error) plans.front().notes.push_back("left out: " + first_error->message);
    return plans;
  }

 private:
  [[nodiscard]] std::unexpected<Error> without_debug(std::string_view what) const {
    return fail(ErrorCode::kNotFound, "{} debug information, which {} does not have: {}", what,
                code_.description(), code_.debug_advice());
  }

  /// Of a function of the kernel, where it is entered.
  [[nodiscard]] Result<KernelParameters> parameters_of(const CodeSymbol& symbol, uint64_t offset,
                                                       const RequestedArgument& argument) const {
    std::string what = "'" + argument.text + "' needs";
    if (!code_.in_kernel()) return without_debug(what);
    if (request_.at_return) return variables_at_return(argument);
    if (offset != 0)
      return fail(ErrorCode::kUnsupported,
                  "'{}': without debug information, parameters are known only where {} is entered: "
                  "{}",
                  request_.text, symbol.name, code_.debug_advice());
    if (!code_.kernel_types()) return without_debug(what);
    return KernelParameters::of(code_, symbol.name);
  }

  [[nodiscard]] Result<std::vector<ProbePlan>> plan_address() const {
    const CodeSymbol* around = code_.symbols().function_at(*request_.address);
    if (around == nullptr)
      return fail(ErrorCode::kNotFound, "no function of {} is at {:#x}", code_.description(),
                  *request_.address);
    return std::vector{TRY(plan_at(*around, *request_.address - around->address))};
  }

  [[nodiscard]] Result<ProbePlan> plan_of(const CodeSymbol& symbol) const {
    uint64_t offset = request_.offset.value_or(0);
    if (symbol.address + offset >= code_.symbols().end_of(symbol))
      return fail(ErrorCode::kNotFound, "{} of {} has only {} bytes: {} is outside", symbol.name,
                  code_.description(), code_.symbols().end_of(symbol) - symbol.address, offset);
    return plan_at(symbol, offset);
  }

  [[nodiscard]] Result<ProbePlan> plan_at(const CodeSymbol& symbol, uint64_t offset) const {
    ProbePlan plan{.group = request_.group.empty() ? code_.default_group() : request_.group,
                   .event = probe_event_name(request_, symbol.name),
                   .place = TRY(place_in(code_, code_.symbols(), symbol, offset)),
                   .function = std::string(symbol.name),
                   .notes = {}};
    plan.place.at_return = request_.at_return;
    std::optional<KernelParameters> parameters;
    for (const RequestedArgument& argument : request_.arguments) {
      if (argument.kind == RequestedArgument::Kind::kFetch) {
        plan.place.arguments.push_back(raw_argument(argument));
        continue;
      }
      if (!parameters) parameters.emplace(TRY(parameters_of(symbol, offset, argument)));
      TRY(parameters->add(argument, plan.place.arguments, plan.notes));
    }
    if (symbol.is_indirect)
      plan.notes.push_back(fmt::format(
          "{} only selects an implementation (ifunc), once per process: probe that function",
          symbol.name));
    return plan;
  }

  const RequestedProbe& request_;
  const ProbedCode& code_;
  const PlanOptions& options_;
};

/// Definitions of which debug information knows the place.
class DebugPlanner {
 public:
  DebugPlanner(const RequestedProbe& request, const ProbedCode& code, DebugCode& debug,
               const PlanOptions& options)
      : request_(request), code_(code), debug_(debug), options_(options) {}

  /// Empty if debug information does not have the place.
  Result<std::vector<ProbePlan>> plan() {
    FoundPlaces found = PlaceFinder(request_, code_, debug_).find(options_.no_inlines);
    if (found.places.empty() && !found.obstacle.empty())
      return fail(ErrorCode::kNotFound, "'{}' cannot be probed: {}", request_.text, found.obstacle);
    TRY(found.check_number(request_, code_, options_));
    std::vector<ProbePlan> plans;
    std::optional<Error> first_error;
    for (const ProbeSite& place : found.places) {
      auto plan = plan_at(place);
      if (!plan) {
        if (!first_error) first_error = plan.error();
        continue;
      }
      if (found.skipped_prologue && plans.empty())
        plan->notes.push_back(
            fmt::format("the variables of {}, compiled without optimisation, are filled after its "
                        "first instructions: the probe is there",
                        plan->function));
      plans.push_back(std::move(*plan));
    }
    if (plans.empty() && first_error) return std::unexpected(*first_error);
    if (first_error) plans.front().notes.push_back("left out: " + first_error->message);
    return plans;
  }

 private:
  Result<ProbePlan> plan_at(const ProbeSite& at) {
    std::string_view name = at.unit->name(at.scope);
    ProbePlan plan{.group = request_.group.empty() ? code_.default_group() : request_.group,
                   .event = probe_event_name(request_, name),
                   .place = TRY(place_at(code_, at.address)),
                   .function = std::string(name),
                   .notes = {}};
    plan.place.at_return = request_.at_return;
    std::optional<VariableFetch> variables;
    for (const RequestedArgument& argument : request_.arguments) {
      if (argument.kind == RequestedArgument::Kind::kFetch) {
        TRY(check_returned(at, argument));
        plan.place.arguments.push_back(raw_argument(argument));
        continue;
      }
      if (request_.at_return) return variables_at_return(argument);
      if (!variables) variables.emplace(code_, debug_, at);
      TRY(variables->add(argument, plan.place.arguments, plan.notes));
    }
    return plan;
  }

  /// $retval is the register for integers and pointers. What a function returns elsewhere, or in
  /// several registers, is not in it; who gives a type ($retval:x64) asks for the register.
  static Result<> check_returned(const ProbeSite& at, const RequestedArgument& argument) {
    if (argument.what != "$retval" || !argument.type.empty()) return {};
    DwarfValueTypes types;
    ValueType type = types.of(at.unit->facts(at.scope).type);
    ValueKind kind = types.kind(types.plain(type));
    std::string_view where =
        kind == ValueKind::kFloat ? "in a register for floating-point numbers, which probes do not "
                                    "read"
        : kind == ValueKind::kRecord
            ? "of which $retval has the first register at most, or an address: "
              "$retval:x64 records that"
            : "";
    if (where.empty()) return {};
    return fail(ErrorCode::kUnsupported, "'{}': {} returns {}, {}", argument.text,
                at.unit->name(at.scope), types.shown(type), where);
  }

  const RequestedProbe& request_;
  const ProbedCode& code_;
  DebugCode& debug_;
  const PlanOptions& options_;
};

/// Return probes put an address of their own on the stack, which Go's runtime finds when it grows
/// or scans that: "unexpected return pc", and the program ends.
Result<> check_return(const RequestedProbe& request, const ProbedCode& code) {
  if (!request.at_return || code.file() == nullptr) return {};
  bool is_go = code.file()->section(".note.go.buildid") != nullptr ||
               code.file()->section(".gopclntab") != nullptr;
  if (!is_go) return {};
  return fail(ErrorCode::kUnsupported,
              "'{}': {} is a Go program, which a return probe would end: its runtime checks return "
              "addresses, and the kernel changes them. Probe the instruction that returns: "
              "FUNCTION+OFFSET",
              request.text, code.description());
}

bool needs_debug(const RequestedProbe& request) {
  bool by_source =
      request.line.value_or(0) > 0 || !request.pattern.empty() || !request.source.empty();
  return by_source || std::ranges::any_of(request.arguments, [](const RequestedArgument& argument) {
           return argument.kind != RequestedArgument::Kind::kFetch;
         });
}

std::unexpected<Error> not_in_debug(const RequestedProbe& request, const ProbedCode& code) {
  if (request.function.empty())
    return fail(ErrorCode::kNotFound, "{} has no code for '{}': list the lines that do with -L",
                code.description(), request.text);
  if (!request.pattern.empty())
    return fail(ErrorCode::kNotFound, "no line of {} with code in {} matches '{}'",
                request.function, code.description(), request.pattern);
  if (request.line.value_or(0) > 0)
    return fail(ErrorCode::kNotFound,
                "line {} of {} has no code in {}: list the lines that do with -L {}", *request.line,
                request.function, code.description(), request.function);
  return fail(ErrorCode::kNotFound, "the debug information of {} has no function '{}'",
              code.description(), request.function);
}

}  // namespace

Result<std::vector<ProbePlan>> plan_probes(const RequestedProbe& request, const ProbedCode& code,
                                           const PlanOptions& options) {
  TRY(check_return(request, code));
  bool is_needed = needs_debug(request);
  if (is_needed || !request.address) {
    auto debug = code.debug();
    if (debug) {
      auto plans = TRY(DebugPlanner(request, code, **debug, options).plan());
      if (!plans.empty()) return plans;
      if (is_needed) return not_in_debug(request, code);
    } else if (debug.error().code != ErrorCode::kNotFound) {
      return std::unexpected(debug.error());
    }
  }
  return SymbolPlanner(request, code, options).plan();
}

}  // namespace sonde
