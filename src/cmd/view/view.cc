// `view`: a profile, or the difference between two, as one page to explore.
#include "cli/command.h"
#include "cmd/options/guest_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/sample_selection_flags.h"
#include "explorer/explorer_page.h"

namespace sonde {
namespace {

class ViewCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<file> [<file>]]");
    flags.description(
        R"(Writes one HTML file in which a profile can be explored in any browser, offline: flame graph, icicle, callers and callees of a function, table, timeline, heat map. A profile is a recording (perf.data), folded stacks, output of script, or a pprof or speedscope file. With two profiles, the page shows what changed from the first to the second; two versions of one program are one, even if they have different names (./old, ./new), unless --by-name is given.)");
    flags.text('i', "input", choice_.input, "file",
               "profile to read (default: standard input if that is a pipe, else perf.data)");
    flags.text('o', "output", choice_.output, "file",
               "the page's file (sonde.html); - is standard output");
    flags.text(0, "title", choice_.title, "text", "title of the page");
    declare_sample_selection(flags, samples_,
                             "of this event only (default: every one that has samples)");
    flags.boolean(0, "inline", inlines_, "show inlined functions as frames of their own");
    declare_check_chains(flags, choice_.source);
    declare_by_name(flags, by_name_);
    flags.boolean('f', "force", choice_.source.session.open.force,
                  "read the recording even if another user owns it");
    declare_call_trace(flags, choice_.source);
    declare_symbol_sources(flags, choice_.source.session.symbols);
    declare_guest_files(flags, choice_.source.session.symbols.guests);
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.size() > 2) return fail(ErrorCode::kUsage, "Error: too many arguments");
    if (arguments.size() == 1) choice_.input = arguments[0];
    if (arguments.empty() && choice_.input.empty()) choice_.input = default_recording(env.in_fd);
    if (arguments.size() == 2) {
      choice_.before = arguments[0];
      choice_.input = arguments[1];
      choice_.by_name = by_name_.value_or(false);
    } else if (by_name_) {
      return fail(ErrorCode::kUsage, "Error: --by-name needs two profiles");
    }
    TRY(samples_.apply(choice_.source));
    name_frame_functions(choice_.source.session.symbols, env);
    choice_.source.session.inlines = chosen_inlines(inlines_);
    TRY(write_explorer(choice_, env));
    return 0;
  }

 private:
  ExplorerOptions choice_;
  SampleSelection samples_;
  std::optional<bool> inlines_;
  std::optional<bool> by_name_;
};

}  // namespace

std::unique_ptr<Command> make_view() {
  return std::make_unique<ViewCommand>();
}

}  // namespace sonde
