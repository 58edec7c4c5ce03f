// `probe -L`, `-V` and `-F`: what can be probed.
#include "cmd/probe/options.h"
#include "probe/name_filter.h"
#include "probe/source/describe_code.h"
#include "probe/source/source_listing.h"
#include "probe/source/variable_listing.h"

namespace sonde {
namespace {

Result<NameFilter> filter_or(const std::string& given, std::string_view otherwise) {
  return NameFilter::parse(given.empty() ? otherwise : std::string_view(given));
}

}  // namespace

Result<int> show_functions(Env& env, const ProbeOptions& options) {
  const std::string& given = options.functions->empty() ? options.filter : *options.functions;
  NameFilter filter = TRY(filter_or(given, "!_* & !*@plt"));
  ProbedCode code = TRY(open_code(env, options.target));
  TRY(list_functions(code, filter, options.demangle, env.out));
  return 0;
}

Result<int> show_source(Env& env, const ProbeOptions& options) {
  ProbedCode code = TRY(open_code(env, options.target));
  bool colour = env.out.is_terminal() && !env.variable("NO_COLOR");
  TRY(write_source_lines(code, *options.lines, colour, env.out));
  return 0;
}

Result<int> show_variables(Env& env, const ProbeOptions& options) {
  NameFilter filter = TRY(filter_or(options.filter, "!__k???tab_* & !__crc_*"));
  RequestedProbe request = TRY(parse_probe(*options.variables));
  ProbedCode code = TRY(open_code(env, options.target));
  env.out.write_lines(TRY(list_variables(request, code, options.plan, filter)));
  return 0;
}

}  // namespace sonde
