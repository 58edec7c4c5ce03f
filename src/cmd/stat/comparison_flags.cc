// stat's options for comparing a command with another, or with its own earlier runs.
#include "base/text.h"
#include "cmd/stat/flags.h"

namespace sonde {

void StatFlags::declare_comparison(FlagTable& flags) {
  auto word = [&](const char* name, std::string& field, const char* argument, const char* help) {
    flags.call(0, name, argument, help, [&field, argument](std::string_view given) -> Result<> {
      if (trim(given).empty()) return fail(ErrorCode::kUsage, "expects a {}", argument);
      field = given;
      return {};
    });
  };
  word("vs", options_.vs, "command",
       "compare the command with this one: run both in turn, then report what the numbers support");
  word("compare", options_.compare, "file",
       "compare the command with a file from --save; anything else is a command, as for --vs");
  word("save", options_.save, "file", "save the values of all runs for --compare");
  flags.call(0, "gate", "limits",
             "exit status 193 if a comparison shows that a metric got worse by more than its "
             "limit (task-clock>2%, page-faults>0)",
             [this](std::string_view text) -> Result<> {
               for (Gate& gate : TRY(parse_gates(text))) options_.gates.push_back(std::move(gate));
               return {};
             });
  flags.boolean(0, "markdown", options_.markdown, "write a comparison as Markdown");
}

/// Sets how often a command measured for a comparison is run; rejects options that don't go with
/// one.
Result<> StatFlags::finalize_comparison(bool recording) {
  auto wrong = [](std::string_view text) { return fail(ErrorCode::kUsage, "{}", text); };
  // Enough for a claim about some ten metrics despite an outlier or two.
  constexpr int kRunsOfAComparison = 20;
  bool compares = options_.compares();
  bool keeps = !options_.save.empty();
  options_.runs_given = runs_.has_value();
  options_.runs = runs_.value_or(compares || keeps ? kRunsOfAComparison : 1);
  if (!options_.compare.empty() && !options_.vs.empty())
    return wrong("--compare and --vs both name what to compare with: choose one");
  if (!compares && !options_.gates.empty()) return wrong("--gate needs --vs or --compare");
  if (!compares && options_.markdown) return wrong("--markdown needs --vs or --compare");
  if (!compares && !keeps) return {};
  const TargetOptions& target = options_.count.target;
  if (target.command.empty() || target.has_task() || target.has_cpu() || target.all_cpus)
    return wrong("--vs, --compare and --save measure commands: give one, and no -a, -C, -p or -t");
  if (recording)
    return wrong("stat record keeps counts of one run: leave out --vs, --compare, --save");
  if (interval_ms_ || timeout_ms_ || options_.count.control.any())
    return wrong(
        "--vs, --compare and --save measure whole runs: leave out -I, --timeout, --control");
  if (options_.runs < 2) return wrong("--vs, --compare and --save need several runs: -r 2 or more");
  if (!compares) return {};
  if (options_.separator) return wrong("a comparison is written as text, JSON (-j) or --markdown");
  if (options_.json != 0 && options_.markdown)
    return wrong("-j and --markdown are two output formats: choose one");
  if (options_.metric_only || options_.run_table)
    return wrong("a comparison supports neither --metric-only nor --table");
  return {};
}

}  // namespace sonde
