// inject: copies a recording and adds what only user space knows: build ids, and objects for code
// compiled at run time.
#include "cli/command.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/row_flags.h"
#include "objects/injection.h"
#include "objects/vm_time.h"

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
    flags.boolean('b', "build-ids", options_.build_ids,
                  "add the build ids of objects with samples");
    flags.boolean(
        'B', "mmap2-buildids", options_.mappings,
        "drop the mappings of objects without samples, and put build ids into the others");
    flags.boolean('f', "force", options_.force, "read the recording even if another user owns it");
    flags.text('i', "input", options_.input, "file", "recording to copy (default: standard input)");
    flags.boolean('j', "jit", options_.jit,
                  "write the generated code of jitdumps to ELF files, and map those");
    flags.text('k', "vmlinux", vmlinux_, "file", "no effect: no symbols are read here")
        .without_effect("no symbols are read here");
    flags.text('o', "output", options_.output, "file", "file to write (default: standard output)");
    flags.boolean('s', "sched-stat", options_.sched_stat,
                  "give sched_stat events the call chains of the sched_switch events before them: "
                  "where and how long tasks slept");
    flags.count('v', "verbose", options_.verbose, "print the build ids that are added");
    flags.boolean(0, "aslr", options_.hide_addresses,
                  "give everything other addresses, and leave out what may contain them, so that "
                  "the copy does not tell where code and data are in memory");
    flags.boolean(0, "buildid-all", options_.all_build_ids,
                  "add the build ids of all objects, also of those without samples");
    flags.boolean(0, "convert-callchain", options_.convert_chains,
                  "turn the copies of stacks of --call-graph dwarf into call chains");
    flags.call(0, "guest-data", "path,pid[,offset[,scale]]",
               "insert what a virtual machine's guest recorded about its tasks: its perf.data, the "
               "process that runs it, and the offset and scale of its time stamp counter",
               [this](std::string_view text) -> Result<> {
                 options_.guest = TRY(parse_guest_data(text));
                 return {};
               });
    flags.text(0, "guestmount", options_.guest_mount, "directory",
               "where guests' files are, DIRECTORY/PID is the root of the guest that process PID "
               "runs: what --guest-data names is added to the build-id cache");
    flags.boolean(0, "ignore-vmlinux", ignore_vmlinux_, "no effect: no symbols are read here")
        .without_effect("no symbols are read here");
    declare_itrace(flags, ItraceDefaults::kReport, options_.itrace);
    flags.text(0, "kallsyms", kallsyms_, "file", "no effect: no symbols are read here")
        .without_effect("no symbols are read here");
    flags.boolean(0, "mmap2-buildid-all", options_.all_mappings, "put build ids into all mappings");
    flags.call(0, "known-build-ids", "buildid path [,buildid path...]",
               "use these build ids for the objects with these paths",
               [this](std::string_view text) -> Result<> {
                 options_.known = TRY(parse_known_build_ids(text));
                 return {};
               });
    declare_unwind_style(flags);
    flags.boolean(0, "strip", options_.strip,
                  "with --itrace: leave out all samples that are not of the trace");
    flags
        .call(0, "vm-time-correlation", "opts",
              "change the times that traces of Intel PT took in guests to the host's, in the input "
              "itself (with -f); [dry-run] [offset[:vmcs[,vmcs]...]]...",
              [this](std::string_view text) -> Result<> {
                vm_time_ = TRY(parse_vm_time(text));
                return {};
              })
        .when_bare("");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (!arguments.empty())
      return fail(ErrorCode::kUsage, "inject takes no arguments: {}", arguments[0]);
    if (options_.itrace && !options_.itrace->decodes) options_.itrace.reset();
    if (options_.strip && !options_.itrace)
      return fail(ErrorCode::kFailed,
                  "--strip leaves out what is not of a trace: --itrace says what to decode of it");
    if (options_.mappings && options_.all_mappings)
      return fail(ErrorCode::kUsage, "-B and --mmap2-buildid-all: one of them only");
    if (options_.guest && (options_.hide_addresses || options_.convert_chains))
      return fail(
          ErrorCode::kUsage,
          "--guest-data goes without --aslr and --convert-callchain: use them on its output");
    if (vm_time_)
      TRY(correct_times(env));
    else
      TRY(inject(options_, env));
    return 0;
  }

 private:
  Result<> correct_times(Env& env) {
    if (options_.input == "-")
      return fail(ErrorCode::kFailed, "--vm-time-correlation changes a file: name it with -i");
    if (options_.output != "-" || options_.any())
      return fail(ErrorCode::kFailed,
                  "--vm-time-correlation changes the input itself: it goes without -o and without "
                  "options that change a copy");
    if (!options_.force && !vm_time_->dry_run)
      return fail(ErrorCode::kFailed,
                  "{} would be changed in place: say -f, or look first, with "
                  "--vm-time-correlation=dry-run",
                  options_.input);
    return correct_vm_times(options_.input, *vm_time_, options_.force, env);
  }

  InjectOptions options_;
  std::optional<VmTimeOptions> vm_time_;
  std::string vmlinux_, kallsyms_;
  bool ignore_vmlinux_ = false;
};

}  // namespace

std::unique_ptr<Command> make_inject() {
  return std::make_unique<Inject>();
}

}  // namespace sonde
