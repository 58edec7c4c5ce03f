// `probe`: dynamic probes: made, listed, removed, and what can be probed.
#include "base/text.h"
#include "cli/command.h"
#include "cmd/probe/options.h"
#include "symbol/dso_symbols.h"

namespace sonde {
namespace {

constexpr std::string_view kDescription =
    R"(Makes events out of places in running code: a function's entry or return, an instruction, a source line, in the kernel or in a program or library (-x). They are tracepoints like any other: record, stat, trace, top and --filter take them, until they are removed or the machine restarts. Making them takes root.

A definition says where, and what to record there:

  [[GROUP:]EVENT=]FUNCTION[@SOURCE][+OFFSET|%return|:LINE|;PATTERN] [ARGUMENT ...]
  [[GROUP:]EVENT=]SOURCE:LINE [ARGUMENT ...]
  [[GROUP:]EVENT=]SOURCE;PATTERN [ARGUMENT ...]
  [[GROUP:]EVENT=]%[sdt_]PROVIDER:NAME

LINE after a function counts from its first line (0); after a source file it is the line of the file. PATTERN selects the lines that match it, blanks left aside. FUNCTION may be a glob. A backslash before one of = @ + : ; % takes away its meaning. %PROVIDER:NAME is a USDT probe that the program itself contains, %NAME also a definition kept by --cache.

An argument is a variable or part of one, read through debug information, or what the kernel can fetch without any:

  [NAME=]VARIABLE[->MEMBER|.MEMBER|[INDEX]...][:TYPE][@user]
  [NAME=]%REGISTER[:TYPE]     +OFFSET(%REGISTER)     $retval     $stackN     $comm
  $params     $vars

TYPE is u8 to u64, s8 to s64, x8 to x64, string, ustring, an array such as u8[4], or a bit field such as b3@2/32. $params stands for all of the function's parameters, $vars for all variables that are in scope.

Words that are no options are one definition; if the first is an absolute path, it is the program. Several -a are made all or none.

--latency FUNC makes probes at the function's entry and return for as long as the command runs, and prints how long the calls took: a histogram, the shortest, average and longest, and percentiles. With -p and without a command it goes on until Ctrl-C or the end of the processes.)";

constexpr std::string_view kExamples =
    R"(  sonde probe -x /lib/x86_64-linux-gnu/libc.so.6 'malloc size=%di'
  sonde record -e probe_libc:malloc -- ls
  sonde probe -x ./app 'parse_request%return $retval'
  sonde probe -x ./app 'late=server.c:210 req->id req->path:string'
  sonde probe -V tcp_sendmsg
  sonde probe 'tcp_sendmsg size sk->__sk_common.skc_state'
  sonde probe -x /usr/bin/python3 %sdt_python:function__entry
  sonde probe -x ./app --latency parse_request -- ./app input
  sonde probe -l
  sonde probe -d 'probe_libc:*')";

class ProbeCommand final : public Command {
 public:
  void declare(FlagTable& flags) override {
    flags.usage("[<options>] 'PROBEDEF' ['PROBEDEF' ...]");
    flags.usage("[<options>] --add 'PROBEDEF' [--add 'PROBEDEF' ...]");
    flags.usage("[<options>] --del '[GROUP:]EVENT' ...");
    flags.usage("--list [GROUP:]EVENT ...");
    flags.usage("[<options>] --line 'LINEDESC'");
    flags.usage("[<options>] --vars 'PROBEPOINT'");
    flags.usage("[<options>] --funcs");
    flags.usage("[<options>] --latency 'FUNC' [-- <command>]");
    flags.description(kDescription);
    declare_actions(flags);
    declare_places(flags);
    declare_others(flags);
    flags.section("EXAMPLES", kExamples);
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    ProbeOptions& options = options_;
    TRY(take_words(arguments));
    if (options.verbose > 0 && options.quiet)
      return fail(ErrorCode::kUsage, "  Error: -v and -q exclude each other.\n");
    std::vector<std::pair<std::string_view, Result<int> (*)(Env&, const ProbeOptions&)>> actions;
    auto wanted = [&](bool asked, std::string_view name, auto action) {
      if (asked) actions.emplace_back(name, action);
    };
    wanted(!options.add.empty(), "--add", add_probes);
    wanted(!options.define.empty(), "--definition", show_definitions);
    wanted(!options.remove.empty(), "--del", remove_probes);
    wanted(options.list.has_value(), "--list", list_probes);
    wanted(options.lines.has_value(), "--line", show_source);
    wanted(options.variables.has_value(), "--vars", show_variables);
    wanted(options.functions.has_value(), "--funcs", show_functions);
    wanted(options.latency.has_value(), "--latency", measure_latency);
    if (actions.empty()) return fail(ErrorCode::kUsage, "");
    if (actions.size() > 1)
      return fail(ErrorCode::kUsage, "  Error: {} and {} exclude each other.\n", actions[0].first,
                  actions[1].first);
    TRY(check(actions[0].first));
    return actions[0].second(env, options);
  }

 private:
  void declare_actions(FlagTable& flags) {
    flags.call('a', "add", "definition", "make a probe; the manual has the syntax",
               define_into(options_.add));
    flags.call('D', "definition", "definition",
               "show a probe as it would be written to tracefs, and make nothing",
               define_into(options_.define));
    flags.list('d', "del", options_.remove, "[GROUP:]EVENT",
               "remove probes: names, globs, or a filter like 'a* & !ab*'");
    flags
        .call('l', "list", "[GROUP:]EVENT", "list probes, all or those of a filter",
              set_text(options_.list))
        .when_last("*");
    flags.call('L', "line", "FUNC[:RLN[+NUM|-RLN2]]|SRC:ALN[+NUM|-ALN2]",
               "show source lines, with numbers where a probe is possible",
               set_text(options_.lines));
    flags.call('V', "vars", "definition", "show the variables that can be recorded at a place",
               set_text(options_.variables));
    flags
        .call('F', "funcs", "filter", "show functions that can be probed",
              set_text(options_.functions))
        .when_last("");
    flags.call(0, "latency", "FUNC",
               "measure how long the calls of a function take, while a command runs, or in running "
               "processes (-p, --all-cpus)",
               set_text(options_.latency));
    flags.text('p', "pid", options_.pids, "pid[,pid...]", "--latency: in these processes");
    flags.boolean(0, "all-cpus", options_.all_cpus, "--latency: in all processes");
  }

  void declare_places(FlagTable& flags) {
    flags.call('x', "exec", "executable|path", "the program or library to probe",
               [this](std::string_view value) -> Result<> {
                 options_.target.executable = value;
                 options_.target.module.clear();
                 return {};
               });
    flags.call('m', "module", "modname|path", "the kernel module to probe, or its file",
               [this](std::string_view value) -> Result<> {
                 options_.target.module = value;
                 options_.target.executable.clear();
                 return {};
               });
    flags.text('k', "vmlinux", options_.target.vmlinux, "file",
               "the kernel with its debug information");
    flags.text('s', "source", options_.target.source_root, "directory",
               "where source files are, instead of where they were compiled");
    flags.boolean(0, "demangle", options_.demangle.enabled,
                  "--funcs: show names of programs as people write them (default)");
    flags.boolean(0, "demangle-kernel", options_.demangle.kernel,
                  "--funcs: do that with names of the kernel, too");
    flags.text(0, "symfs", options_.target.symfs, "directory",
               "look up objects and debug information below it");
    flags.number(0, "target-ns", options_.target.namespace_pid, "pid",
                 "-x is a path in the mount namespace of this process");
    flags.boolean(0, "no-inlines", options_.plan.no_inlines,
                  "leave out places where a function is inlined");
    flags.number(0, "max-probes", options_.plan.max_probes, "n",
                 "places that one definition may select (128)");
    flags.boolean(0, "externs", options_.plan.with_externs, "-V: global variables too");
    flags.boolean(0, "range", options_.plan.with_ranges,
                  "-V: the instructions for which each variable has a place");
    flags.text(0, "filter", options_.filter, "[!]filter",
               "-V, -F: names to show (\"!__k???tab_* & !__crc_*\" for -V, \"!_* & !*@plt\" for "
               "-F)");
  }

  void declare_others(FlagTable& flags) {
    flags.boolean('f', "force", options_.force,
                  "make probes whose name exists, with a number appended");
    flags.boolean('n', "dry-run", options_.dry_run, "say what would be made, and make nothing");
    flags.boolean(0, "bootconfig", options_.bootconfig,
                  "-D: in the form of the kernel's boot configuration");
    flags.boolean(0, "cache", options_.use_cache,
                  "keep added probes in the build-id cache; list or remove those kept there");
    flags.count('v', "verbose", options_.verbose, "say what is written to tracefs");
    flags.boolean('q', "quiet", options_.quiet, "print nothing but results and errors");
  }

  FlagTable::OnValue define_into(std::vector<ProbeOptions::Definition>& list) {
    return [this, &list](std::string_view value) -> Result<> {
      list.push_back({std::string(value), options_.target});
      return {};
    };
  }
  static FlagTable::OnValue set_text(std::optional<std::string>& field) {
    return [&field](std::string_view value) -> Result<> {
      field = value;
      return {};
    };
  }

  /// The words are one definition; an absolute path in front of it is its program.
  Result<> take_words(const Arguments& arguments) {
    std::vector<std::string> words = arguments.words;
    if (options_.latency) {
      options_.command = std::move(words);
      return {};
    }
    if (!words.empty() && words[0].starts_with('/') && options_.target.executable.empty() &&
        options_.target.module.empty()) {
      options_.target.executable = words[0];
      words.erase(words.begin());
      for (auto* list : {&options_.add, &options_.define})
        for (ProbeOptions::Definition& definition : *list)
          definition.target.executable = options_.target.executable;
    }
    if (!words.empty()) options_.add.push_back({join(words, " "), options_.target});
    // Options after a definition that can have only one value are about it too.
    for (auto* list : {&options_.add, &options_.define})
      for (ProbeOptions::Definition& definition : *list) {
        if (definition.target.executable.empty() && definition.target.module.empty()) {
          definition.target.executable = options_.target.executable;
          definition.target.module = options_.target.module;
        }
        definition.target.vmlinux = options_.target.vmlinux;
        definition.target.source_root = options_.target.source_root;
        definition.target.symfs = options_.target.symfs;
        definition.target.namespace_pid = options_.target.namespace_pid;
      }
    return {};
  }

  /// Options that the action has no use for are refused, not ignored.
  Result<> check(std::string_view action) const {
    auto only_for = [&](bool given, std::string_view option, bool useful) -> Result<> {
      if (!given || useful) return {};
      return fail(ErrorCode::kUsage, "  Error: {} has no use for {}.\n", action, option);
    };
    bool adds = action == "--add";
    bool lists = action == "--list";
    bool removes = action == "--del";
    bool plans = adds || action == "--definition";
    TRY(only_for(!options_.target.executable.empty(), "--exec", !lists));
    TRY(only_for(!options_.target.module.empty(), "--module", !lists));
    TRY(only_for(options_.use_cache && removes && !options_.target.executable.empty(),
                 "--exec with --cache", false));
    TRY(only_for(options_.force, "--force", plans));
    TRY(only_for(options_.dry_run, "--dry-run", adds));
    TRY(only_for(options_.bootconfig, "--bootconfig", action == "--definition"));
    TRY(only_for(options_.use_cache, "--cache", adds || lists || removes));
    TRY(only_for(options_.plan.with_externs, "--externs", action == "--vars"));
    TRY(only_for(options_.plan.with_ranges, "--range", action == "--vars"));
    TRY(only_for(!options_.pids.empty(), "--pid", action == "--latency"));
    TRY(only_for(options_.all_cpus, "--all-cpus", action == "--latency"));
    return only_for(!options_.filter.empty(), "--filter",
                    action == "--vars" || action == "--funcs");
  }

  ProbeOptions options_;
};

}  // namespace

Result<ProbedCode> open_code(Env& env, const ProbeTarget& target) {
  SymbolOptions symbols;
  symbols.vmlinux = target.vmlinux;
  symbols.symfs = target.symfs;
  return ProbedCode::open(
      target, {.finder = finder_options(symbols, env), .path = env.variable("PATH").value_or("")});
}

std::unique_ptr<Command> make_probe() {
  return std::make_unique<ProbeCommand>();
}

}  // namespace sonde
