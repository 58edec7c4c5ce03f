// `flamegraph`: a profile as a picture, or the difference of two.
#include <unistd.h>

#include "capture/control/temporary_directory.h"
#include "cli/command.h"
#include "cmd/options/flame_drawing_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/run_record.h"

namespace sonde {
namespace {

class FlamegraphCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] [<file>]");
    flags.usage("[<options>] <before> <after>");
    flags.usage("[<options>] -- <command> [<arguments>]");
    flags.description(
        R"(Draws a flame graph: each stack frame is a box on top of its caller, as wide as the samples whose stacks contain it. The SVG file is a picture everywhere, and interactive in a browser: click a frame to zoom, press / to search; see docs/flamegraphs.md.

Without a file, piped input is drawn, or perf.data. A file's type is detected from its content: a recording, folded stacks, the text of script. - is standard input. A command after -- is recorded with call graphs and drawn, and no other file is left behind.

With two files, the picture shows the second, and its colours show what changed: red frames have more samples than before, blue ones fewer. Stacks that are gone are shown below. Two versions of one program are one, even if they have different names (./old, ./new; the subtitle says so), unless --by-name is given. Folded stacks with two counts are drawn in the same way.

The picture goes to standard output, or to flamegraph.svg if that is a terminal or a command was recorded, or to the file given with -o.)");
    flags.section("EXAMPLES", R"(  sonde flamegraph -- make -j8
  sonde flamegraph -i perf.data -o build.svg --colors java
  sonde flamegraph before.data after.data > difference.svg
  sonde fold | grep parse | sonde flamegraph > parse.svg)");
    flags.text('i', "input", input_, "file",
               "profile to read (default: standard input if that is a pipe, else perf.data)");
    flags.text('o', "output", output_, "file",
               "file to write; - is standard output (the default; on a terminal, or of a command: "
               "flamegraph.svg)");
    declare_flame_drawing(flags, drawing_);
    flags.group("Recording a command");
    flags.text('F', "freq", frequency_, "freq", "samples per second");
    flags.text(0, "call-graph", call_graph_, "mode",
               "how call graphs are recorded: fp, dwarf, lbr");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    name_frame_functions(drawing_.source.session.symbols, env);
    if (arguments.after_dashes && !arguments.empty()) return record_and_draw(env, arguments.words);
    if (!frequency_.empty() || !call_graph_.empty())
      return fail(ErrorCode::kFailed, "--{} is for recording a command, behind --",
                  frequency_.empty() ? "call-graph" : "freq");
    std::vector<std::string> inputs = arguments.words;
    if (!input_.empty()) inputs.insert(inputs.begin(), input_);
    if (inputs.empty()) inputs.push_back(default_recording(env.in_fd));
    if (inputs.size() > 2) return fail(ErrorCode::kUsage, "Error: too many arguments");
    bool named = !output_.empty();
    std::string output = named || !env.out.is_terminal() ? output_ : kDefaultFlameFile;
    TRY(draw_flame_graph(drawing_, inputs, output, env));
    if (!named && !output.empty()) report_where(env, output);
    return 0;
  }

 private:
  static void report_where(Env& env, const std::string& output) {
    env.err.print("[ {} flamegraph: drawn in {} ]\n", env.tool, output);
  }

  /// The command's own output goes to standard output, so the picture does not, unless requested.
  Result<int> record_and_draw(Env& env, const std::vector<std::string>& command) {
    if (!input_.empty())
      return fail(ErrorCode::kFailed, "-i {}: either a file is drawn or a command is recorded",
                  input_);
    TemporaryDirectory directory = TRY(TemporaryDirectory::make(env));
    std::string recording = directory.path() + "/perf.data";
    int status = TRY(record(env, recording, command));
    std::string output = output_.empty() ? kDefaultFlameFile : output_;
    TRY(draw_flame_graph(drawing_, {recording}, output, env));
    if (output != "-") report_where(env, output);
    return status;
  }

  Result<int> record(Env& env, const std::string& recording,
                     const std::vector<std::string>& command) const {
    std::vector<std::string> words = {"-q", "-o", recording};
    words.push_back(call_graph_.empty() ? "-g" : "--call-graph=" + call_graph_);
    if (!frequency_.empty()) words.insert(words.end(), {"-F", frequency_});
    if (!drawing_.selection.event.empty())
      words.insert(words.end(), {"-e", drawing_.selection.event});
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return run_record(words, "record", env);
  }

  std::string input_, output_;
  std::string frequency_, call_graph_;
  FlameDrawingOptions drawing_;
};

}  // namespace

std::unique_ptr<Command> make_flamegraph() {
  return std::make_unique<FlamegraphCommand>();
}

}  // namespace sonde
