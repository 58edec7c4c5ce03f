// `diff`: the rows of two or more recordings side by side.
#include "base/printing/csv.h"
#include "cli/command.h"
#include "cmd/diff/flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/recording_input.h"
#include "render/damage_text.h"
#include "render/table_text.h"
#include "report/diff/cycles.h"
#include "report/diff/notes.h"
#include "report/diff/streams.h"
#include "report/diff/table.h"

namespace sonde {
namespace {

using diff::DiffInput;
using Inputs = std::vector<std::unique_ptr<DiffInput>>;

class DiffCommand final : public Command {
 public:
  Result<> configure(const Config& config) override {
    if (auto method = config.get("diff.compute")) TRY(diff::parse_method(*method, o_));
    auto order = config.get("diff.order");
    if (order) o_.difference.sort_side = TRY(number_from<size_t>(*order));
    return {};
  }

  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [old_file] [new_file]");
    flags.description(
        R"(Shows what changed between recordings: rows with the same name are shown side by side, with their share of the samples in the first recording and how it differs in the others. Two versions of one program are one, even if they have different names (./old, ./new), and so are those of a library (libfoo.so.1.2, libfoo.so.1.3): the heading says which. --by-name compares them as two. The first is the baseline; without file names, it is perf.data.old, and perf.data is compared with it.

A difference in shares may be due to chance: a recording is a sample. --noise shows next to each difference a confidence interval from the numbers of samples, and a verdict: more, less, came, went; noise, if the interval also allows for no difference; few, if there are too few samples for a verdict. All intervals of a table hold together with 95% confidence. They cover sampling error, not how runs differ: for that, stat --vs measures runs in turn.

Recordings with branch stacks (record -b) tell more: -c cycles compares the cycles of basic blocks, --stream the hottest paths through branches.

To compare call paths, use `fold --diff` or `flamegraph A B`; for whole runs, `stat --compare`.)");
    flags.section("EXAMPLES", R"(  sonde diff
  sonde diff --noise old.data new.data
  sonde diff -c ratio -p -s comm,dso old.data new.data
  sonde diff --above-noise -o 2 base.data first.data second.data
  sonde diff --by-name -s comm,dso before.data after.data)");
    diff::declare_flags(flags, o_);
  }

  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    std::vector<std::string> paths = paths_of(arguments);
    TRY(check_options(paths.size()));
    if (o_.difference.sort_side >= paths.size())
      return fail(ErrorCode::kFailed,
                  "-o: there is no recording of this number: 0 is the baseline, 1 the first that "
                  "is compared with it");
    name_frame_functions(o_.symbol_sources, env);
    for (const std::string& path : paths)
      TRY((RecordingInput{.path = path, .force = o_.force, .dump = o_.dump}.dump_first(env)));
    Inputs inputs;
    for (const std::string& path : paths)
      inputs.push_back(TRY(DiffInput::open(path, inputs.size(), o_, env)));
    // Under the name of perf, names are compared as perf does.
    if (!o_.by_name.value_or(env.tool == "perf"))
      for (size_t i = 1; i < inputs.size(); ++i)
        inputs[i]->find_counterparts(*inputs[0], o_.verbose > 0);
    if (o_.streams) return write_streams(env, inputs);
    if (o_.cycles)
      for (const auto& input : inputs) TRY(diff::check_cycles(*input));
    if (!o_.quiet) write_notes(env, inputs);
    render::TableTextOptions text{
        .separator = o_.separator,
        .header = !o_.quiet,
        .color = env.out.is_terminal(),
        .quotes_formulas = !o_.separator.empty() && TRY(quotes_formulas(env))};
    if (!o_.quiet)
      for (const auto& input : inputs)
        render::write_damage(env.out, input->losses(), input->path());
    bool first = true;
    for (const auto& event : inputs[0]->events()) {
      view::Table table = o_.cycles ? diff::make_cycles_table(inputs, *event, o_)
                                    : TRY(diff::make_table(inputs, *event, o_));
      if (!o_.quiet) write_heading(env.out, inputs, *event, first);
      first = false;
      render::write_table(env.out, table, text);
      if (env.out.failed() != 0) break;
    }
    return 0;
  }

 private:
  static std::vector<std::string> paths_of(const Arguments& arguments) {
    if (arguments.empty()) return {"perf.data.old", "perf.data"};
    if (arguments.size() == 1) return {"perf.data.old", arguments[0]};
    return arguments.words;
  }

  Result<> check_options(size_t files) const {
    if (o_.cycles_histogram && !o_.cycles)
      return fail(ErrorCode::kUsage, "--cycles-hist goes with -c cycles");
    if (o_.streams && files > 2)
      return fail(ErrorCode::kUsage, "--stream compares two recordings, not {}", files);
    if (o_.streams && o_.cycles)
      return fail(ErrorCode::kUsage, "--stream shows paths, -c cycles basic blocks: give one");
    if (!o_.streams && !o_.cycles) return {};
    std::string_view other = diff::option_without_cycles(o_);
    if (other.empty()) return {};
    return fail(ErrorCode::kUsage, "{} does not go with {}", other,
                o_.streams ? "--stream" : "-c cycles: rows are basic blocks");
  }

  Result<int> write_streams(Env& env, const Inputs& inputs) const {
    for (const auto& input : inputs) TRY(diff::check_cycles(*input));
    for (const auto& event : inputs[0]->events())
      diff::write_streams(env.out, *event, inputs[1]->find(inputs[0]->desc(*event).attr));
    return 0;
  }

  static void write_notes(Env& env, const Inputs& inputs) {
    std::vector<std::string> said;
    for (size_t i = 1; i < inputs.size(); ++i)
      for (std::string& note : diff::comparison_notes(*inputs[0], *inputs[i])) {
        if (std::ranges::find(said, note) != said.end()) continue;
        env.err.print("note: {}\n", note);
        said.push_back(std::move(note));
      }
  }

  static void write_matched_names(Sink& out, const Inputs& inputs) {
    std::vector<std::string> said;
    for (size_t i = 1; i < inputs.size(); ++i) {
      std::string names = inputs[i]->matched_names();
      if (names.empty() || std::ranges::find(said, names) != said.end()) continue;
      out.print("# {} (not with --by-name)\n", names);
      said.push_back(std::move(names));
    }
    if (!said.empty()) out.write("#\n");
  }

  void write_heading(Sink& out, const Inputs& inputs, const report::EventReport& event,
                     bool first) const {
    if (!first) out.write("\n");
    if (first) write_matched_names(out, inputs);
    out.print("# Event '{}'\n#\n", event.name);
    if (inputs.size() < 3 && o_.verbose == 0) return;
    out.write("# Data files:\n");
    for (size_t i = 0; i < inputs.size(); ++i)
      out.print("#  [{}] {} {}\n", i, inputs[i]->path(), i == 0 ? "(Baseline)" : "");
    out.write("#\n");
  }

  diff::DiffOptions o_;
};

}  // namespace

std::unique_ptr<Command> make_diff() {
  return std::make_unique<DiffCommand>();
}

}  // namespace sonde
