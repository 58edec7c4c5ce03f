// `fold`: stacks with their weights, one per line; and those of two profiles side by side.
#include "base/output_file.h"
#include "cli/command.h"
#include "cmd/options/guest_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/sample_selection_flags.h"
#include "export/formats/folded_writer.h"
#include "stacks/profile_diff.h"
#include "stacks/profile_source.h"
#include "stacks/recursion.h"

namespace sonde {
namespace {

class FoldCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<file>]");
    flags.usage("[<options>] --diff <before> <after>");
    flags.description(
        R"(Writes each distinct stack of a profile as one line: its frames from the outermost to the innermost, separated by semicolons, and its value. Lines are sorted. The profile is a recording (perf.data), the text of `script`, a pprof or speedscope file, or folded stacks; its type is detected from its content, and it may be compressed with gzip. - is standard input; without a file, it is piped input, or perf.data.

The value of a stack is the sum of its samples' periods (nanoseconds, cycles ...), or the number of samples if the periods are not known. If there are several events, only one is written.

--diff takes two versions of one program for one, even if they have different names (./old, ./new): the outermost frame is then "old → new", and a message says so. --by-name takes them for two.)");
    flags.section("EXAMPLES", R"(  sonde fold > out.folded
  sonde fold --all -e cycles -i perf.data -o out.folded
  perf script | sonde fold
  sonde fold --diff -n before.data after.data
  sonde fold --diff --by-name before.data after.data)");
    flags.text('i', "input", input_, "file",
               "profile to read (default: standard input if that is a pipe, else perf.data)");
    flags.text('o', "output", output_, "file", "file to write; - is standard output (the default)");
    flags.boolean('f', "force", options_.session.open.force,
                  "read the recording even if another user owns it");
    declare_frames(flags);
    declare_samples(flags);
    declare_diff(flags);
    flags.group("Where names come from");
    declare_symbol_sources(flags, options_.session.symbols);
    declare_guest_files(flags, options_.session.symbols.guests);
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(check(arguments));
    if (input_.empty()) input_ = arguments.empty() ? default_recording(env.in_fd) : arguments[0];
    prepare(env);
    StackProfile profile = TRY(diff_ ? difference_of(arguments, env) : open(input_, env));
    std::vector<size_t> columns = TRY(columns_of(profile, env));
    OutputFile output = TRY(OutputFile::open(output_, env));
    write_folded(output.sink(), profile, columns);
    TRY(output.finish());
    return 0;
  }

 private:
  void declare_frames(FlagTable& flags) {
    SpellingOptions& spelling = options_.stacks.spelling;
    flags.group("What frames are called");
    flags.boolean(0, "pid", spelling.pid, "the outermost frame is \"comm-PID\"");
    flags.boolean(0, "tid", spelling.tid, "the outermost frame is \"comm-PID/TID\"");
    flags.boolean(
        0, "waits", options_.stacks.wait_reasons,
        "the outermost frame ends in the reason for a wait (record --off-cpu): \"comm [lock]\"");
    flags.boolean(0, "kernel", spelling.kernel, "frames of the kernel end in _[k]");
    flags.boolean(0, "jit", spelling.jit, "frames of generated code end in _[j]");
    flags.act(0, "all", "--kernel and --jit", [&spelling]() -> Result<> {
      spelling.kernel = spelling.jit = true;
      return {};
    });
    flags.boolean(0, "addrs", spelling.addresses, "code without a symbol shows its address");
    flags.boolean(0, "inline", inlines_,
                  "inlined functions are frames, also in stacks that the recorder walked, and end "
                  "in _[i]");
    declare_check_chains(flags, options_);
    flags.boolean(0, "srcline", spelling.lines, "frames end in :FILE:LINE");
    flags.boolean(0, "context", spelling.lines, "same as --srcline");
    flags.boolean(0, "tidy", spelling.tidy, "function arguments are omitted (the default)");
    flags.boolean(0, "merge-recursion", merge_recursion_,
                  "a function that calls itself is one frame, however deep");
  }
  void declare_samples(FlagTable& flags) {
    flags.group("Which samples, and what they weigh");
    flags.text('e', "event", samples_.event, "event",
               "only samples of this event (default: the first)");
    flags.text(0, "event-filter", samples_.event, "event", "same as --event");
    flags.choose(0, "samples", options_.stacks.value, StackValue::kSamples,
                 "each sample counts as one");
    flags.choose(0, "period", options_.stacks.value, StackValue::kPeriod,
                 "each sample counts as its period (the default)");
    declare_place_selection(flags, samples_);
  }
  void declare_diff(FlagTable& flags) {
    declare_call_trace(flags, options_);
    flags.group("Comparing two profiles");
    flags.boolean(0, "diff", diff_, "write the stacks of two profiles, with their values in each");
    flags.boolean('n', "normalize", difference_.normalize,
                  "the first profile's values are scaled so that its total equals the second's");
    declare_by_name(flags, by_name_);
    flags.boolean('s', "strip-hex", difference_.strip_addresses, "0x7f32a0 in names becomes 0x...");
  }

  [[nodiscard]] Result<> check(const Arguments& arguments) const {
    if (diff_ && arguments.size() != 2)
      return fail(ErrorCode::kUsage, "Error: --diff takes two files, before and after");
    if (!diff_ && arguments.size() + (input_.empty() ? 0 : 1) > 1)
      return fail(ErrorCode::kUsage, "Error: too many arguments");
    if (!diff_ && by_name_) return fail(ErrorCode::kUsage, "Error: --by-name is for --diff");
    if (!diff_ && (difference_.normalize || difference_.strip_addresses))
      return fail(ErrorCode::kUsage, "Error: -{} is for --diff", difference_.normalize ? 'n' : 's');
    return {};
  }
  void prepare(const Env& env) {
    name_frame_functions(options_.session.symbols, env);
    options_.stacks.want_objects = diff_;  // with their builds
    options_.session.open.stdin_fd = env.in_fd;
    options_.session.inlines = chosen_inlines(inlines_);
    options_.stacks.spelling.inlined = inlines_.value_or(false);
  }

  Result<StackProfile> open(const std::string& path, const Env& env) const {
    ProfileSourceOptions options = options_;
    TRY(samples_.apply(options));
    StackProfile profile = TRY(open_profile(path, options, env));
    return merge_recursion_ ? merge_recursion(std::move(profile)) : std::move(profile);
  }
  Result<size_t> column_of(const StackProfile& profile, Env& env) const {
    size_t column = TRY(choose_column(profile, samples_.event));
    if (samples_.event.empty() && profile.columns.size() > 1)
      env.err.print("{}: {}: stacks are of {}; -e chooses another event\n", env.tool,
                    profile.origin, profile.columns[column].name);
    return column;
  }

  /// Both columns of a comparison, even one read from a file; otherwise one.
  Result<std::vector<size_t>> columns_of(const StackProfile& profile, Env& env) const {
    bool may_be_comparison = diff_ || samples_.event.empty();
    if (may_be_comparison && is_comparison(profile)) return std::vector<size_t>{0, 1};
    return std::vector<size_t>{TRY(column_of(profile, env))};
  }

  Result<StackProfile> difference_of(const Arguments& files, Env& env) const {
    StackProfile before = TRY(open(files[0], env));
    StackProfile after = TRY(open(files[1], env));
    ProfileDiffOptions options = difference_;
    options.columns = {
        {.before = TRY(column_of(before, env)), .after = TRY(column_of(after, env))}};
    options.whole_numbers = true;
    Counterparts counterparts;
    if (!by_name_.value_or(false)) counterparts = counterparts_of(before, after, options.columns);
    options.counterparts = &counterparts;
    if (std::string said = counterparts.sentence(); !said.empty())
      env.err.print("{}: {} (not with --by-name)\n", env.tool, said);
    return diff_profiles(before, after, options);
  }

  std::string input_;
  std::string output_;
  SampleSelection samples_;
  std::optional<bool> inlines_;
  std::optional<bool> by_name_;
  bool merge_recursion_ = false;
  bool diff_ = false;
  ProfileDiffOptions difference_;
  ProfileSourceOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_fold() {
  return std::make_unique<FoldCommand>();
}

}  // namespace sonde
