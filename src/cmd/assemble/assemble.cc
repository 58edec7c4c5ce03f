// assemble: perf.data from readable text, and back. For the project's tests, whose golden inputs
// are such texts. perfdata/text/format.h describes the language.
#include <fcntl.h>

#include <cstring>

#include "base/file.h"
#include "base/files/regular_file.h"
#include "base/sys.h"
#include "cli/command.h"
#include "perfdata/text/format.h"
#include "perfdata/write/recording_place.h"

namespace sonde {
namespace {

constexpr size_t kTextLimit = size_t{1} << 30;

class Assemble final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("IN.txt OUT.data");
    flags.usage("-d IN.data");
    flags.description(
        "Makes a perf.data file from text: directives for events and features and a line per "
        "record, or the output of report -D or script -D. With -d, writes a file as text.");
    flags.boolean('d', "disassemble", disassemble_,
                  "write the text that describes a perf.data file");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (arguments.size() != (disassemble_ ? 1u : 2u))
      return fail(ErrorCode::kUsage, "assemble takes {}",
                  disassemble_ ? "one file" : "the names of the text and the recording");
    if (disassemble_) {
      OpenOptions options{.force = true, .stdin_fd = env.in_fd};
      Recording recording = TRY(Recording::open(arguments[0], options, env.losses));
      disassemble(recording, env.losses, env.out);
      return 0;
    }
    std::string text = TRY(arguments[0] == "-" ? read_all(env.in_fd, "standard input", kTextLimit)
                                               : read_stream(arguments[0], kTextLimit));
    auto bytes = assemble(text);
    if (!bytes) return fail(bytes.error().code, "{}: {}", arguments[0], bytes.error());
    return write(env, arguments[1], *bytes);
  }

 private:
  static Result<int> write(Env& env, const std::string& path, Bytes bytes) {
    if (path == "-") {
      env.out.write_lines(as_text(bytes));
      return 0;
    }
    TRY(clear_recording_place(path, false));
    Fd file = TRY(open_recording_file_anew(env.sys, path));
    TRY(write_all(file.get(), path, bytes));
    return 0;
  }

  bool disassemble_ = false;
};

}  // namespace

std::unique_ptr<Command> make_assemble() {
  return std::make_unique<Assemble>();
}

}  // namespace sonde
