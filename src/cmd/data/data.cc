// `data convert`: a recording as JSON, in the Common Trace Format, or as a profile for compilers.
#include <sys/stat.h>

#include <cstring>

#include "base/file.h"
#include "base/output/overwriting.h"
#include "cli/command.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/recording_input.h"
#include "export/recordings/autofdo.h"
#include "export/recordings/bolt.h"
#include "export/recordings/ctf.h"
#include "export/recordings/json.h"
#include "export/recordings/propeller_input.h"

namespace sonde {
namespace {

class DataConvert final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        "Writes a recording as JSON (one sample per line), or as a directory in the Common Trace "
        "Format, which babeltrace and Trace Compass read. The fields are the same as perf's. "
        "--to-autofdo writes how often each branch of a program was taken, from the branch stacks "
        "of its samples, as create_llvm_prof and create_gcov read it (--profiler=text); --to-bolt "
        "writes the same as perf2bolt and llvm-bolt read it (-pa). --to-propeller writes an order "
        "of the program's basic blocks as clang takes it (-fbasic-block-sections=list=), and "
        "--symorder the order of functions that belongs to it, as lld takes it "
        "(--symbol-ordering-file); the program must have been built by clang with "
        "-fbasic-block-address-map. All of these count every branch of an instruction trace, "
        "where the recording has one.");
    flags.text('i', "input", input_.path, "file",
               "recording to convert (default: standard input if that is a pipe, else perf.data)");
    flags.text(0, "to-json", json_, "file", "write samples as JSON; - is standard output");
    flags.text(0, "to-ctf", ctf_, "directory", "write a directory in the Common Trace Format");
    flags.text(0, "to-autofdo", autofdo_, "file",
               "write branch stacks as AutoFDO's text; - is standard output");
    flags.text(0, "to-bolt", bolt_, "file",
               "write branch stacks as the text of perf2bolt -pa; - is standard output");
    flags.text(
        0, "to-propeller", propeller_, "file",
        "write an order of basic blocks for clang, from branch stacks; - is standard output");
    flags.text(0, "symorder", symbol_order_, "file",
               "of --to-propeller: also write the order of functions, for lld");
    flags.text(0, "dso", dso_, "object",
               "of --to-autofdo, --to-bolt and --to-propeller: path or name of the program or "
               "library; by default that with the most branches");
    flags.boolean('f', "force", input_.force,
                  "read the recording even if another user owns it, and overwrite the file");
    flags.count('v', "verbose", verbose_, "no effect: what is lost is said anyway")
        .without_effect("what is lost is said anyway");
    flags.boolean(0, "tod", wall_clock_,
                  "with --to-ctf: wall-clock times, instead of those of the recording's clock");
    flags.boolean(0, "all", all_, "with --to-ctf: records of tasks and mappings, too");
    declare_symbol_sources(flags, session_.symbols);
    flags.section("EXAMPLES", R"(  sonde data convert --to-json samples.json
  sonde data convert --to-ctf trace && babeltrace trace
  sonde record -b -- ./app && sonde data convert --to-autofdo app.afdo.txt
  create_llvm_prof --profiler=text --profile=app.afdo.txt --binary=app --out=app.prof
  sonde data convert --to-bolt app.bolt.txt && perf2bolt -pa -p app.bolt.txt -o app.fdata app
  sonde data convert --to-propeller app.blocks --symorder app.functions
  clang -O2 -fbasic-block-sections=list=app.blocks -fuse-ld=lld -Wl,--symbol-ordering-file=app.functions app.c)");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(check(arguments));
    input_.path = input_.chosen_path(env);
    session_.want_symbols = !json_.empty();
    if (json_.empty()) session_.chains.reset();
    if (!branch_path().empty()) session_.itrace = trace_of_branches();
    Session session = TRY(input_.open_session(session_, env));
    uint64_t bytes = TRY(convert(session, env));
    if (json_ == "-" || branch_path() == "-") return 0;
    std::string_view format = !ctf_.empty()         ? "CTF"
                              : !json_.empty()      ? "JSON"
                              : !bolt_.empty()      ? "BOLT"
                              : !propeller_.empty() ? "Propeller"
                                                    : "AutoFDO";
    constexpr double kMegabyte = 1024.0 * 1024.0;
    env.err.print(
        "[ {0} data convert: Converted '{1}' into {2} data '{3}' ]\n"
        "[ {0} data convert: Converted and wrote {4:.3f} MB ({5} samples) ]\n",
        env.tool, input_.path, format, ctf_ + json_ + branch_path(),
        static_cast<double>(bytes) / kMegabyte, session.samples().size());
    return 0;
  }

 private:
  [[nodiscard]] Result<> check(const Arguments& arguments) const {
    if (!arguments.empty())
      return fail(ErrorCode::kUsage, "Error: unexpected argument '{}'; name the recording with -i",
                  arguments[0]);
    if (!json_.empty() && !ctf_.empty())
      return fail(ErrorCode::kFailed, "--to-ctf and --to-json exclude each other: convert twice");
    std::vector<std::string_view> options = branch_options();
    if (!options.empty() && !(json_ + ctf_).empty())
      return fail(ErrorCode::kFailed, "{} goes with neither --to-ctf nor --to-json.", options[0]);
    if (options.size() > 1)
      return fail(ErrorCode::kFailed, "{} and {} exclude each other: convert twice", options[0],
                  options[1]);
    if (json_.empty() && ctf_.empty() && options.empty())
      return fail(ErrorCode::kUsage,
                  "no format is chosen: give --to-ctf, --to-json, --to-autofdo, --to-bolt or "
                  "--to-propeller");
    if (!dso_.empty() && options.empty())
      return fail(ErrorCode::kUsage,
                  "--dso chooses the object of --to-autofdo, --to-bolt or --to-propeller");
    if (!symbol_order_.empty() && propeller_.empty())
      return fail(ErrorCode::kUsage, "--symorder belongs to --to-propeller");
    if (!symbol_order_.empty() && symbol_order_ == propeller_)
      return fail(ErrorCode::kUsage, "--to-propeller and --symorder write to two files");
    if (all_ && ctf_.empty())
      return fail(ErrorCode::kUnsupported,
                  "--all is for --to-ctf: the other formats have samples only");
    if (wall_clock_ && ctf_.empty())
      return fail(
          ErrorCode::kUnsupported,
          "--tod is for --to-ctf: the other formats keep the times of the recording's clock");
    return {};
  }

  /// Returns the number of bytes written.
  Result<uint64_t> convert(const Session& session, Env& env) const {
    if (!ctf_.empty())
      return write_data_ctf(ctf_, session, {.wall_clock = wall_clock_, .all_records = all_});
    if (!json_.empty())
      return write_file(json_, env, [&](Sink& out) { write_data_json(out, session); });
    BranchProfile::Object object = TRY(branches_of(session, env));
    const Dso& dso = session.machine().dsos()[object.dso];
    if (!bolt_.empty()) return write_bolt_file(session, object, env);
    if (!propeller_.empty()) return write_propeller_files(session, object, env);
    return write_file(autofdo_, env,
                      [&](Sink& out) { write_autofdo(out, object, dso.build_id, dso.path); });
  }

  Result<uint64_t> write_bolt_file(const Session& session, const BranchProfile::Object& object,
                                   Env& env) const {
    FoundObject files = session.symbolizer().object_files(object.dso);
    if (!files.usable())
      return fail(ErrorCode::kNotFound,
                  "--to-bolt: {} is not here, whose segments give addresses; --symfs names where "
                  "it lies",
                  session.machine().dsos()[object.dso].path);
    uint64_t left_out = 0;
    uint64_t bytes = TRY(write_file(
        bolt_, env, [&](Sink& out) { left_out = write_bolt(out, object, files.segments()); }));
    if (left_out > 0)
      env.err.print("{}: {} lines were left out: they are not in the segments of {}\n", env.tool,
                    left_out, files.symbols_path);
    return bytes;
  }

  Result<uint64_t> write_propeller_files(const Session& session,
                                         const BranchProfile::Object& object, Env& env) const {
    PropellerResult result = TRY(lay_out_for_propeller(session, object));
    for (const std::string& line : result.left_out) env.err.print("{}: {}\n", env.tool, line);
    uint64_t bytes = TRY(write_file(
        propeller_, env, [&](Sink& out) { write_propeller_clusters(out, result.layout); }));
    if (symbol_order_.empty()) return bytes;
    return bytes + TRY(write_file(symbol_order_, env,
                                  [&](Sink& out) { write_propeller_symbols(out, result.layout); }));
  }

  /// Of the text made from branch stacks.
  [[nodiscard]] const std::string& branch_path() const {
    if (!bolt_.empty()) return bolt_;
    return propeller_.empty() ? autofdo_ : propeller_;
  }
  /// The options that want such a text.
  [[nodiscard]] std::vector<std::string_view> branch_options() const {
    std::vector<std::string_view> options;
    if (!autofdo_.empty()) options.emplace_back("--to-autofdo");
    if (!bolt_.empty()) options.emplace_back("--to-bolt");
    if (!propeller_.empty()) options.emplace_back("--to-propeller");
    return options;
  }

  Result<BranchProfile::Object> branches_of(const Session& session, Env& env) const {
    BranchTotals totals;
    std::vector<BranchProfile::Object> objects = profile_branches(session, totals).by_object();
    if (totals.samples == 0)
      return fail(
          ErrorCode::kNotFound,
          "{} has no branch stacks: record -b or -j any,u takes them, on processors that "
          "keep them; of an instruction trace convert the recording itself, not what inject "
          "made of it",
          input_.path);
    const DsoTable& dsos = session.machine().dsos();
    if (totals.broken > 0)
      env.err.print("{}: {} stretches between branches were left out: no code is like that\n",
                    env.tool, totals.broken);
    for (BranchProfile::Object& object : objects) {
      const Dso& dso = dsos[object.dso];
      bool is_meant =
          dso_.empty() ? dso.kind == DsoKind::kFile : dso.path == dso_ || dso.short_name == dso_;
      if (is_meant) return std::move(object);
    }
    std::string known;
    for (const BranchProfile::Object& object : objects)
      known += (known.empty() ? "" : ", ") + dsos[object.dso].short_name;
    return fail(ErrorCode::kNotFound, "{} has no branches in {}; it has some in {}", input_.path,
                dso_.empty() ? "any file" : dso_, known);
  }

  /// Returns the number of bytes written; none to standard output.
  template <typename Write>
  Result<uint64_t> write_file(const std::string& path, Env& env, const Write& write) const {
    if (path == "-") {
      write(env.out);
      return uint64_t{0};
    }
    struct stat status{};
    if (!input_.force && ::lstat(path.c_str(), &status) == 0)
      return fail(ErrorCode::kFailed, "{} exists: --force overwrites it", path);
    auto opened = overwrite(path, 0666);
    if (!opened) return fail(ErrorCode::kIo, "failed to open {}: {}", path, opened.error());
    Fd file = std::move(*opened);
    FdSink out(file.get());
    write(out);
    out.flush();
    if (out.failed() != 0)
      return fail(ErrorCode::kIo, "failed to write {}: {}", path, std::strerror(out.failed()));
    return ::fstat(file.get(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
  }

  RecordingInput input_;
  std::string json_;
  std::string ctf_;
  std::string autofdo_;
  std::string bolt_;
  std::string propeller_;
  std::string symbol_order_;
  std::string dso_;
  int verbose_ = 0;
  bool wall_clock_ = false;
  bool all_ = false;
  SessionOptions session_;
};

class Data final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("convert [<options>]");
    flags.subcommands({"convert"});
    flags.stop_at_first_word();
    flags.description(
        "Processes recordings as data. `data convert` writes one as JSON or in the Common Trace "
        "Format; `export` writes profiles in other tools' formats.");
  }
  std::unique_ptr<Command> subcommand(const Arguments& arguments) override {
    if (arguments.empty() || arguments[0] != "convert") return nullptr;
    return std::make_unique<DataConvert>();
  }
  Result<int> run(Env& /*env*/, const Arguments& arguments) override {
    if (arguments.empty()) return fail(ErrorCode::kUsage, "");
    return fail(ErrorCode::kUsage, "data has no subcommand '{}': there is convert", arguments[0]);
  }
};

}  // namespace

std::unique_ptr<Command> make_data() {
  return std::make_unique<Data>();
}

}  // namespace sonde
