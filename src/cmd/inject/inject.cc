// inject: copies a recording and adds what only user space knows: build ids, and objects for code
// compiled at run time.
#include "cli/command.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/row_flags.h"
#include "objects/injection.h"

namespace sonde {
namespace {

class Inject final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(Copies a recording and adds what user space knows about it. Without -i and -o, it is a filter between two pipes.

With -j, each piece of code in the recording's jitdumps becomes an ELF file beside its dump, jitted-PID-N.so, and the recording shows when and where it was mapped, for tools that don't read dumps. report and script read dumps directly.)");
    flags.section("EXAMPLES", R"(  sonde record -k mono -g node --perf-prof app.js
  sonde inject -j -i perf.data -o perf.data.jitted
  sonde record -o - make | sonde inject -b | sonde report -i -)");
    flags.boolean('b', "build-ids", options_.build_ids, "Inject build-ids into the output stream");
    flags.boolean(
        'B', "mmap2-buildids", options_.mappings,
        "Drop the mappings of objects without samples, and put build-ids into the others");
    flags.boolean('f', "force", options_.force, "don't complain, do it");
    flags.text('i', "input", options_.input, "file", "input file name");
    flags.boolean('j', "jit", options_.jit, "merge jitdump files into perf.data file");
    flags
        .text('k', "vmlinux", vmlinux_, "file",
              "accepted for perf's sake: no symbols are read here")
        .without_effect("no symbols are read here");
    flags.text('o', "output", options_.output, "file", "output file name");
    flags.boolean(
        's', "sched-stat", options_.sched_stat,
        "Give sched_stat events the call chains of the sched_switch events before them: where "
        "and how long tasks slept");
    flags.count('v', "verbose", options_.verbose, "be more verbose (show build ids, etc)");
    flags.boolean(
        0, "aslr", options_.hide_addresses,
        "Give everything other addresses, and leave out what may contain them, so that the "
        "copy does not tell where code and data are in memory");
    flags.boolean(0, "buildid-all", options_.all_build_ids,
                  "Inject build-ids of all DSOs into the output stream");
    flags.boolean(0, "convert-callchain", options_.convert_chains,
                  "Turn the copies of stacks of --call-graph dwarf into call chains");
    constexpr const char* kNoPrograms =
        "programs of guests are not looked up; report --guestmount names their kernels' code";
    refuse(flags, "guest-data", "opts", kNoPrograms).when_bare("");
    refuse(flags, "guestmount", "directory", kNoPrograms);
    flags
        .boolean(0, "ignore-vmlinux", ignore_vmlinux_,
                 "accepted for perf's sake: no symbols are read here")
        .without_effect("no symbols are read here");
    declare_itrace(flags, ItraceDefaults::kReport, options_.itrace);
    flags
        .text(0, "kallsyms", kallsyms_, "file",
              "accepted for perf's sake: no symbols are read here")
        .without_effect("no symbols are read here");
    flags.boolean(0, "mmap2-buildid-all", options_.all_mappings, "Put build-ids into all mappings");
    flags.call(0, "known-build-ids", "buildid path [,buildid path...]",
               "build-ids to use for given paths", [this](std::string_view text) -> Result<> {
                 options_.known = TRY(parse_known_build_ids(text));
                 return {};
               });
    declare_unwind_style(flags);
    flags.boolean(0, "strip", options_.strip,
                  "Leave out all samples that are not of the trace (use with --itrace)");
    refuse(flags, "vm-time-correlation", "opts",
           "the TSC offsets of guests are not looked for in traces")
        .when_bare("");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (!arguments.empty())
      return fail(ErrorCode::kUsage, "inject takes no arguments: {}", arguments[0]);
    if (options_.itrace && !options_.itrace->decodes) options_.itrace.reset();
    if (options_.strip && !options_.itrace)
      return fail(ErrorCode::kFailed, "--strip option requires --itrace option");
    if (options_.mappings && options_.all_mappings)
      return fail(ErrorCode::kUsage, "-B and --mmap2-buildid-all: one of them only");
    TRY(inject(options_, env));
    return 0;
  }

 private:
  static std::unexpected<Error> refusal(std::string_view option, std::string_view why) {
    return fail(ErrorCode::kUnsupported, "inject --{}: {}", option, why);
  }
  static Flag& refuse(FlagTable& flags, std::string name, std::string argument, std::string why) {
    return flags
        .call(0, name, std::move(argument), "refused: " + why,
              [name, why](std::string_view) -> Result<> { return refusal(name, why); })
        .refused(why);
  }

  InjectOptions options_;
  std::string vmlinux_, kallsyms_;
  bool ignore_vmlinux_ = false;
};

}  // namespace

std::unique_ptr<Command> make_inject() {
  return std::make_unique<Inject>();
}

}  // namespace sonde
