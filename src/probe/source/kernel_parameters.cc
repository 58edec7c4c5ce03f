#include "probe/source/kernel_parameters.h"

#include <elf.h>

#include <algorithm>

#include "probe/source/fetch_text.h"
#include "probe/source/member_fetch.h"

namespace sonde {

Result<KernelParameters> KernelParameters::of(const ProbedCode& code, std::string_view function) {
  KernelTypes* types = TRY(code.kernel_types());
  if (function.contains('.'))
    return fail(ErrorCode::kUnsupported,
                "{} is a variant that the compiler made, whose parameters only debug information "
                "knows: {}",
                function, code.debug_advice());
  auto prototype = types->function(function);
  if (!prototype)
    return fail(ErrorCode::kNotFound, "the types of {} (BTF) do not have function '{}': {}",
                code.description(), function, code.debug_advice());
  return KernelParameters(code, *types, std::string(function), std::move(*prototype));
}

Result<FetchText> KernelParameters::fetch_of(size_t parameter) const {
  // Which register a parameter is in depends on those before it.
  static constexpr uint64_t kX86[] = {5, 4, 1, 2, 8, 9};  // di, si, dx, cx, r8, r9
  bool is_x86 = code_.machine() == EM_X86_64;
  size_t in_registers = is_x86 ? std::size(kX86) : 8;
  for (size_t i = 0; i <= parameter; ++i) {
    ValueType type = types_.plain(prototype_.parameters[i].type);
    bool is_one = types_.kind(type) != ValueKind::kRecord && types_.size(type) <= 8;
    if (!is_one)
      return fail(ErrorCode::kUnsupported,
                  "{}: parameter '{}' is passed as a whole, so the places of it and of those after "
                  "it are not certain: name registers, or {}",
                  function_, prototype_.parameters[i].name, code_.debug_advice());
  }
  if (parameter < in_registers) {
    auto reg = fetch_register(is_x86 ? kX86[parameter] : parameter, code_.machine());
    return FetchText::of_register(*reg);
  }
  // On the stack; on x86 above the return address.
  FetchText fetch = FetchText::of_register("%sp");
  fetch.follow(static_cast<int64_t>(8 * (parameter - in_registers) + (is_x86 ? 8 : 0)), false);
  return fetch;
}

Result<std::string> KernelParameters::text_of(const RequestedArgument& argument) const {
  const auto& parameters = prototype_.parameters;
  auto found = std::ranges::find(parameters, argument.what, &KernelTypes::Parameter::name);
  if (found == parameters.end())
    return fail(ErrorCode::kNotFound,
                "{} has no parameter '{}', and its local variables need debug information: {}",
                function_, argument.what, code_.debug_advice());
  FetchText start = TRY(fetch_of(static_cast<size_t>(found - parameters.begin())));
  return member_fetch(std::move(start), found->type, argument, types_);
}

Result<> KernelParameters::add(const RequestedArgument& argument, std::vector<std::string>& texts,
                               std::vector<std::string>& notes) const {
  using Asked = RequestedArgument::Kind;
  if (argument.kind == Asked::kVariable) {
    std::string text = TRY(text_of(argument));
    texts.push_back(unique_fetch_name(argument, texts) + "=" + text);
    return {};
  }
  if (argument.kind == Asked::kAllVars)
    notes.push_back(fmt::format("only parameters of {}: its other variables need debug information",
                                function_));
  for (const KernelTypes::Parameter& parameter : prototype_.parameters) {
    if (parameter.name.empty()) continue;
    RequestedArgument one{.kind = Asked::kVariable,
                          .what = std::string(parameter.name),
                          .type = argument.type,
                          .user_memory = argument.user_memory,
                          .text = std::string(parameter.name)};
    auto text = text_of(one);
    if (text)
      texts.push_back(unique_fetch_name(one, texts) + "=" + *text);
    else
      notes.push_back("left out: " + text.error().message);
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> KernelParameters::shown() const {
  std::vector<std::pair<std::string, std::string>> list;
  for (const KernelTypes::Parameter& parameter : prototype_.parameters)
    list.emplace_back(types_.shown(parameter.type), parameter.name);
  return list;
}

}  // namespace sonde
