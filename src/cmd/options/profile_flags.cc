#include "cmd/options/profile_flags.h"

#include "analysis/timelines/call_stacks.h"
#include "analysis/timelines/call_timeline.h"
#include "base/text.h"
#include "symbol/debuginfod.h"

namespace sonde {
void declare_symbol_sources(FlagTable& flags, SymbolOptions& symbols) {
  flags.text('k', "vmlinux", symbols.vmlinux, "file", "vmlinux pathname");
  flags.text(0, "kallsyms", symbols.kallsyms, "file", "kallsyms pathname");
  flags.text(0, "symfs", symbols.symfs, "directory",
             "Look for files with symbols relative to this directory");
  flags
      .call(0, "debuginfod", "urls",
            "Ask debuginfod servers (DEBUGINFOD_URLS or these) for symbols and lines of objects of "
            "the "
            "profile that are not here",
            [&symbols](std::string_view urls) -> Result<> {
              TRY(start_debuginfod(std::string(urls)));
              symbols.debuginfod = urls;
              return {};
            })
      .when_bare("");
  declare_unverified_symbols(flags, symbols);
  flags.boolean(0, "demangle", symbols.demangle, "Enable symbol demangling");
  flags.boolean(0, "demangle-kernel", symbols.demangle_kernel, "Enable kernel symbol demangling");
  flags.boolean(0, "frame-functions", symbols.frame_functions,
                "Name functions without a symbol by object and address "
                "(the default, except in text that is the same as perf's)");
  flags.boolean(0, "full-source-path", symbols.full_source_path,
                "Show full source file name path for source lines");
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
  flags.act(0, "no-itrace", "Do not decode instruction traces", [&source]() -> Result<> {
    source.session.itrace = ItraceOptions{.decodes = false};
    source.make_profile = nullptr;
    return {};
  });
}

void declare_unwind_style(FlagTable& flags) {
  flags.call(0, "unwind-style", "libdw|libunwind",
             "order of unwinders (not needed: stacks are unwound without these libraries)",
             [](std::string_view list) -> Result<> {
               for (std::string_view word : split(list, ','))
                 if (word != "libdw" && word != "libunwind")
                   return fail(ErrorCode::kUsage, "expects libdw or libunwind, not '{}'", word);
               return {};
             });
}

void declare_unverified_symbols(FlagTable& flags, SymbolOptions& symbols) {
  flags.boolean(
      0, "unverified-symbols", symbols.unverified,
      "Name code of other machines and boots by whatever is at its path here, as perf does");
}

void name_frame_functions(SymbolOptions& symbols, const Env& env) {
  if (!symbols.frame_functions) symbols.frame_functions = env.tool != "perf";
}

void declare_gate(FlagTable& flags, EventWindow::Choice& gate) {
  flags.text(0, "switch-on", gate.on, "event",
             "Consider events after the occurrence of this event");
  flags.text(0, "switch-off", gate.off, "event",
             "Stop considering events after the occurrence of this event");
  flags.boolean(0, "show-on-off-events", gate.show_switching,
                "Show the on/off switch events, used with --switch-on and --switch-off");
}

}  // namespace sonde
