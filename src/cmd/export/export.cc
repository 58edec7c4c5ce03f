// `export`: a profile in other tools' formats.
#include "base/output_file.h"
#include "cli/command.h"
#include "cmd/options/export_options.h"
#include "cmd/options/guest_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/sample_selection_flags.h"
#include "stacks/profile_source.h"

namespace sonde {
namespace {

class ExportCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("--to <format> [<options>] [<file>]");
    flags.description(description());
    flags
        .call(0, "to", "format", "what to write: " + names(),
              [this](std::string_view name) { return choose_format(name); })
        .offers(export_format_list(true));
    flags.text('i', "input", input_, "file",
               "profile to read (default: standard input if that is a pipe, else perf.data)");
    flags.text('o', "output", output_, "file", "file to write; - is standard output (the default)");
    flags.list('e', "event", options_.stacks.events, "event",
               "only this event; may be given several times");
    declare_task_selection(flags, samples_);
    declare_place_selection(flags, samples_);
    flags.boolean('f', "force", options_.session.open.force,
                  "read the recording even if another user owns it");
    flags.boolean(0, "experimental", experimental_, "allow formats that still change");
    flags.boolean(0, "source", options_.stacks.want_sources,
                  "the source file and line of each function, where they are known");
    flags.boolean(0, "addresses", options_.stacks.want_addresses,
                  "of pprof: each place in a function by itself, with its address");
    flags.boolean(0, "inline", inline_, "show functions that were inlined");
    declare_check_chains(flags, options_);
    declare_call_trace(flags, options_);
    declare_symbol_sources(flags, options_.session.symbols);
    declare_guest_files(flags, options_.session.symbols.guests);
    flags.section("EXAMPLES", R"(  sonde export --to speedscope -o profile.json
  sonde export --to pprof -o profile.pb.gz && pprof -top profile.pb.gz
  sonde export --to firefox -i perf.data -o profile.json.gz
  sonde record -g -o - -- make | sonde export --to perfetto -i - -o trace.pftrace)");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (format_ == nullptr)
      return fail(ErrorCode::kUsage, "Error: no format; --to takes one of {}", names());
    if (format_->is_experimental && !experimental_)
      return fail(ErrorCode::kUsage,
                  "Error: the format {} may still change; --experimental writes it anyway",
                  format_->name);
    if (format_->shape == ExportShape::kOneEvent && options_.stacks.events.size() > 1)
      return fail(ErrorCode::kUsage, "Error: {} holds one event; choose one with -e",
                  format_->name);
    if (options_.stacks.want_addresses && format_->name != "pprof")
      return fail(ErrorCode::kUsage, "Error: --addresses is for pprof; {} holds no addresses",
                  format_->name);
    if (arguments.size() + (input_.empty() ? 0 : 1) > 1)
      return fail(ErrorCode::kUsage, "Error: export takes one file");
    if (input_.empty()) input_ = arguments.empty() ? default_recording(env.in_fd) : arguments[0];
    name_frame_functions(options_.session.symbols, env);
    ProfileSourceOptions how = TRY(wanted(env));
    StackProfile profile = TRY(open_profile(input_, how, env));
    TRY(keep_columns(profile, options_.stacks.events));
    OutputFile output = TRY(OutputFile::open(output_, env));
    format_->write(output.sink(), profile);
    TRY(output.finish());
    return 0;
  }

 private:
  static std::string names() { return export_format_names(true); }
  /// Text of the manual; lives as long as the command.
  std::string_view description() {
    description_ =
        "Writes a profile in the format of another tool. The profile is a recording, or any other "
        "file that flamegraph and view can draw; its type is detected from its content.\n\n";
    for (const ExportFormat& format : export_formats())
      description_ += fmt::format("  {:<12}{}{}\n", format.name, format.summary,
                                  format.is_experimental ? " (experimental)" : "");
    return description_;
  }
  Result<> choose_format(std::string_view name) {
    format_ = find_export_format(name);
    if (format_ == nullptr)
      return fail(ErrorCode::kUsage, "Error: unknown format '{}'; there are {}", name, names());
    return {};
  }

  Result<ProfileSourceOptions> wanted(const Env& env) const {
    ProfileSourceOptions options = options_;
    TRY(samples_.apply(options));
    options.session.open.stdin_fd = env.in_fd;
    options.session.inlines = chosen_inlines(inline_);
    set_shape(options.stacks, format_->shape);
    return options;
  }

  const ExportFormat* format_ = nullptr;
  std::string input_;
  std::string output_;
  bool experimental_ = false;
  std::optional<bool> inline_;
  SampleSelection samples_;
  ProfileSourceOptions options_;
  std::string description_;
};

}  // namespace

std::unique_ptr<Command> make_export() {
  return std::make_unique<ExportCommand>();
}

}  // namespace sonde
