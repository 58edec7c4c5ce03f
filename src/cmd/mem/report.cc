// mem report: report's tables of memory accesses, or a line per sample.
#include "cmd/report/report.h"
#include "base/option_values.h"
#include "cli/argument_count.h"
#include "cli/front_command.h"
#include "cmd/mem/mem.h"
#include "cmd/options/recording_input.h"
#include "event/pmu/pmu.h"
#include "script/memory_lines.h"

namespace sonde {
namespace {

/// The keys that `mem report` sorts by where report's own default does not fit.
std::optional<std::string> sort_keys(const MemOptions& options, bool by_type) {
  std::string keys;
  if (by_type)
    keys = "mem,snoop,tlb,type";
  else if (!options.operations.loads)  // stores have no latency
    keys = "mem,sym,dso,symbol_daddr,dso_daddr,tlb,locked";
  else if (options.physical_addresses || options.page_sizes)
    keys = "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked";
  else
    return std::nullopt;
  if (options.physical_addresses) keys += ",phys_daddr";
  if (options.page_sizes) keys += ",data_page_size";
  return keys;
}

/// Options of a report that is made by `report`: a base, so that it exists before the command.
struct OwnedReportOptions {
  report::ReportOptions report;
};

class MemReport final : private OwnedReportOptions, public FrontCommand {
 public:
  explicit MemReport(MemOptions options)
      : FrontCommand(make_report_of(report)), options_(std::move(options)) {}

  [[nodiscard]] bool paged() const override { return options_.dumps || FrontCommand::paged(); }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (!options_.dumps) return FrontCommand::run(env, arguments);
    TRY(no_arguments(arguments));
    SessionOptions session;
    session.symbols = report.symbol_sources;
    session.filter.cpus = report.cpus;
    session.chains.reset();
    MemoryLineStyle style{.separator = report.separator,
                          .physical_addresses = options_.physical_addresses,
                          .page_sizes = options_.page_sizes,
                          .hide_unresolved = report.hide_unresolved};
    RecordingInput input{.path = report.input, .force = report.force};
    write_memory_lines(TRY(input.open_session(std::move(session), env)), style, env.out);
    return 0;
  }

 private:
  void declare_own(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(Shows the memory accesses of a recording: which code made them, which data they touched and how they were served. Rows are weighted by the time that accesses took, where the recording has it. -D shows a line per sample instead.

All other options are report's; -t, -p, -x and -D are not.)");
    options_.declare_shared(flags);
    flags.boolean('D', "dump-raw-samples", options_.dumps, "a line per sample, instead of a table");
    flags.text('x', "field-separator", report.separator, "separator",
               "character between columns, which are not padded then; in names it becomes `.'");
    flags.boolean('T', "type-profile", by_type_,
                  "show the types of data that were accessed, from debug information, instead of "
                  "the code: sorts by mem,snoop,tlb,type");
    flags.boolean(0, "data-type", by_type_, "same as --type-profile").hidden();
    report.memory_mode = true;
    report.show_samples = true;
    if (!options_.input.empty()) report.input = options_.input;
    report.force = options_.force;
    report.separator = options_.separator;
    report.hide_unresolved = options_.hide_unresolved;
  }

  Result<std::vector<std::string>> words_behind(Env& /*env*/) override {
    if (!report.sort) report.sort = sort_keys(options_, by_type_);
    return std::vector<std::string>();
  }

  MemOptions options_;
  bool by_type_ = false;
};

}  // namespace

std::unique_ptr<Command> make_mem_report(MemOptions options) {
  return std::make_unique<MemReport>(std::move(options));
}

}  // namespace sonde
