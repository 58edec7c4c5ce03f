#include "cmd/options/profile_flags.h"

#include "analysis/timelines/call_stacks.h"
#include "analysis/timelines/call_timeline.h"
#include "base/text.h"
#include "symbol/debuginfod.h"

namespace sonde {
void declare_symbol_sources(FlagTable& flags, SymbolOptions& symbols) {
  flags.text('k', "vmlinux", symbols.vmlinux, "file",
             "image of the recorded kernel, for its symbols and code");
  flags.text(0, "kallsyms", symbols.kallsyms, "file",
             "symbols of the recorded kernel: a copy of its /proc/kallsyms");
  flags.text(0, "symfs", symbols.symfs, "directory",
             "look for objects and their debug files below this directory, as if it were /");
  flags
      .call(0, "debuginfod", "urls",
            "ask debuginfod servers (DEBUGINFOD_URLS or these) for symbols and lines of objects "
            "that are not here",
            [&symbols](std::string_view urls) -> Result<> {
              TRY(start_debuginfod(std::string(urls)));
              symbols.debuginfod = urls;
              return {};
            })
      .when_bare("");
  declare_unverified_symbols(flags, symbols);
  flags.boolean(0, "demangle", symbols.demangle,
                "name functions as in their source, not as the linker does (default)");
  flags.boolean(0, "demangle-kernel", symbols.demangle_kernel,
                "name functions of the kernel as in their source, too");
  flags.boolean(
      0, "frame-functions", symbols.frame_functions,
      "name functions without a symbol by object and address (the default depends on the command)");
  flags.boolean(0, "full-source-path", symbols.full_source_path,
                "show source files with their directories");
}

void declare_call_trace(FlagTable& flags, ProfileSourceOptions& source) {
  flags
      .call(0, "itrace", "opts",
            "samples made of instruction traces with these options of report's; without options "
            "the time of each call, from its entry to its return",
            [&source](std::string_view text) -> Result<> {
              if (text.empty()) {
                source.session.itrace = call_timeline_trace();
                source.make_profile = call_stacks_of;
              } else {
                source.session.itrace = TRY(parse_itrace(text, ItraceDefaults::kReport));
                source.make_profile = nullptr;
              }
              return {};
            })
      .when_bare("");
  flags.act(0, "no-itrace", "do not decode instruction traces", [&source]() -> Result<> {
    source.session.itrace = ItraceOptions{.decodes = false};
    source.make_profile = nullptr;
    return {};
  });
}

void declare_unwind_style(FlagTable& flags) {
  flags
      .call(0, "unwind-style", "libdw|libunwind",
            "order of unwinders (not needed: stacks are unwound without these libraries)",
            [](std::string_view list) -> Result<> {
              for (std::string_view word : split(list, ','))
                if (word != "libdw" && word != "libunwind")
                  return fail(ErrorCode::kUsage, "expects libdw or libunwind, not '{}'", word);
              return {};
            })
      .without_effect("stacks are unwound without these libraries");
}

void declare_unverified_symbols(FlagTable& flags, SymbolOptions& symbols) {
  flags.boolean(0, "unverified-symbols", symbols.unverified,
                "name code of other machines and boots by whatever is at its path here, unchecked");
}

void name_frame_functions(SymbolOptions& symbols, const Env& env) {
  if (!symbols.frame_functions) symbols.frame_functions = env.tool != "perf";
}

void tell_of_nameless(SymbolOptions& symbols, const Env& env) {
  symbols.tell_of_nameless = env.tool != "perf";
}

void declare_by_name(FlagTable& flags, std::optional<bool>& by_name) {
  flags.boolean(0, "by-name", by_name,
                "compare programs and libraries by name only; otherwise two versions of one "
                "(old and new, libfoo.so.1.2 and libfoo.so.1.3) are compared as one");
}

void declare_check_chains(FlagTable& flags, ProfileSourceOptions& source) {
  flags.boolean(0, "check-chains", source.check_chains,
                "cut call chains by frame pointers at the first caller that cannot be one, where "
                "no call precedes it: [broken chain] (default)");
}

void declare_gate(FlagTable& flags, EventWindow::Choice& gate) {
  flags.text(0, "switch-on", gate.on, "event",
             "from the start, and after each --switch-off event, leave out samples until this "
             "event occurs");
  flags.text(
      0, "switch-off", gate.off, "event",
      "leave out samples once this event has occurred; with --switch-on, until that one occurs");
  flags.boolean(0, "show-on-off-events", gate.show_switching,
                "also show the samples of the --switch-on and --switch-off events");
}

}  // namespace sonde
