#include "cmd/stat/report.h"

#include "base/printing/csv.h"
#include "cmd/options/recording_input.h"
#include "stat/count_file_pages.h"
#include "stat/output.h"

namespace sonde {
namespace {

using view::CountGrouping;

class StatReport final : public Command {
 public:
  explicit StatReport(const StatOptions& before) : options_(before) {
    if (before.grouping != CountGrouping::kAll) grouping_ = before.grouping;
  }

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description("Shows the counts of a file that `stat record` wrote.");
    input_.declare_file(flags);
    declare_unit_flags(flags, grouping_);
    flags.text('x', "field-separator", options_.separator, "separator",
               "separate the values of a line by this, and align nothing: CSV, for programs (\\t "
               "is a tab)");
    flags.choose('j', "json-output", options_.json, 1, "print JSON, an object per line");
    flags.boolean(0, "metric-only", options_.metric_only,
                  "show only what is computed from the counts, in columns, and no counts");
    flags.text('o', "output", options_.output, "file",
               "write to this file instead of standard error");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (!arguments.empty())
      return fail(ErrorCode::kUsage, "stat report takes no argument: '{}'", arguments[0]);
    if (options_.separator == "\\t") options_.separator = "\t";
    options_.quotes_formulas = TRY(quotes_formulas(env));
    Recording recording = TRY(input_.open_recording(env));
    StatOutput output = TRY(StatOutput::open(options_, env, false));
    if (grouping_ == CountGrouping::kCluster)
      return fail(ErrorCode::kUnsupported, "A recording does not say which CPUs form a cluster");
    TRY(write_count_file(recording, options_, grouping_, env, output));
    return 0;
  }

 private:
  StatOptions options_;
  std::optional<CountGrouping> grouping_;
  RecordingInput input_;
};

}  // namespace

std::unique_ptr<Command> make_stat_report(const StatOptions& before) {
  return std::make_unique<StatReport>(before);
}

}  // namespace sonde
