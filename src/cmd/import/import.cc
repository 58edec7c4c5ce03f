// `import`: profiles of other tools, as folded stacks or in any format that `export` writes.
#include "base/output_file.h"
#include "cli/command.h"
#include "cmd/options/export_options.h"
#include "cmd/options/profile_flags.h"
#include "stacks/profile_source.h"

namespace sonde {
namespace {

class ImportCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] <file>");
    flags.description(
        R"(Reads a profile that another tool wrote: pprof, speedscope (JSON), text of `perf script`, folded stacks. Its type is detected from its content; it may be compressed with gzip. - is standard input.

It is written as folded stacks, or in the format of --to. You don't need this for pictures: flamegraph, view, export and fold open such files directly.)");
    flags.section("EXAMPLES", R"(  sonde import cpu.pb.gz > cpu.folded
  sonde import -e alloc_space heap.pb.gz | sonde flamegraph - > heap.svg
  sonde import --to speedscope -o cpu.json cpu.pb.gz)");
    flags.text('i', "input", input_, "file", "profile to read");
    flags.text('o', "output", output_, "file", "file to write; - is standard output (the default)");
    flags
        .call(0, "to", "format", "format to write: folded (the default), or another of export's",
              [this](std::string_view name) { return choose_format(name); })
        .offers(export_format_list(false));
    flags.text('e', "event", event_, "event", "values of this kind (default: the first, or all)");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.size() + (input_.empty() ? 0 : 1) != 1)
      return fail(ErrorCode::kUsage, "Error: import takes one file");
    StackProfile profile =
        TRY(open_profile(input_.empty() ? arguments[0] : input_, wanted(env), env));
    TRY(choose_event(profile, env));
    OutputFile output = TRY(OutputFile::open(output_, env));
    format_->write(output.sink(), profile);
    TRY(output.finish());
    return 0;
  }

 private:
  Result<> choose_format(std::string_view name) {
    format_ = find_export_format(name);
    if (format_ != nullptr && !format_->is_experimental) return {};
    return fail(ErrorCode::kUsage, "Error: unknown format '{}'; there are {}", name,
                export_format_names(false));
  }
  [[nodiscard]] ProfileSourceOptions wanted(const Env& env) const {
    ProfileSourceOptions options;
    options.session.open.stdin_fd = env.in_fd;
    options.session.inlines = Inlines::kOfUnwound;
    name_frame_functions(options.session.symbols, env);
    set_shape(options.stacks, format_->shape);
    return options;
  }
  Result<> choose_event(StackProfile& profile, Env& env) const {
    size_t column = TRY(choose_column(profile, event_));
    bool takes_one = format_->shape == ExportShape::kOneEvent;
    if (event_.empty() && takes_one && profile.columns.size() > 1)
      env.err.print("{}: {}: writing {}; -e chooses another\n", env.tool, profile.origin,
                    profile.columns[column].name);
    if (event_.empty() && !takes_one) return {};
    return keep_columns(profile, {profile.columns[column].name});
  }

  std::string input_;
  std::string output_;
  std::string event_;
  const ExportFormat* format_ = find_export_format("folded");
};

}  // namespace

std::unique_ptr<Command> make_import() {
  return std::make_unique<ImportCommand>();
}

}  // namespace sonde
