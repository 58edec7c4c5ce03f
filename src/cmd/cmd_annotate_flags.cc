// The command line of `annotate`: every option of perf's, done, or refused with a line.
#include "base/text.h"
#include "cmd/cmd_annotate_options.h"
#include "cmd/profile_flags.h"

namespace sonde::annotation {
namespace {

void declare_choice(FlagTable& flags, Options& o) {
  flags.text('i', "input", o.input, "file", "input file name");
  flags.call('d', "dsos", "dso[,dso...]", "only consider symbols in these dsos",
             words_into(o.dsos));
  flags.text('s', "symbol", o.symbol, "symbol", "symbol to annotate");
  flags.boolean('f', "force", o.force, "don't complain, do it");
  flags.count('v', "verbose", o.verbose, "say where the code of each function lies");
  flags.boolean('q', "quiet", o.quiet, "do now show any warnings or messages");
  flags.boolean('D', "dump-raw-trace", o.dump, "dump raw trace in ASCII");
  flags.call('C', "cpu", "cpu", "list of cpus to profile", numbers_into(o.cpus));
  flags.boolean(0, "skip-missing", o.skip_missing, "Skip symbols that cannot be annotated");
  flags.boolean(0, "group", o.group, "Show event group information together");
  flags.call(0, "percent-limit", "percent", "Don't show entries under that percent",
             [&o](std::string_view word) -> Result<> {
               o.percent_limit = TRY(parse_percent(word));
               return {};
             });
  flags
      .call(0, "itrace", "opts", "Instruction Tracing options",
            [&o](std::string_view) -> Result<> {
              o.itrace = true;
              return {};
            })
      .when_bare("");
}

void declare_code(FlagTable& flags, Options& o) {
  flags.boolean(0, "source", o.listing.source,
                "Interleave source code with assembly code (default)");
  flags.boolean(0, "asm-raw", o.listing.raw, "Display raw encoding of assembly instructions");
  flags
      .call('M', "disassembler-style", "disassembler style",
            "Specify disassembler style (e.g. -M intel for intel syntax)",
            [&o](std::string_view style) -> Result<> {
              for (std::string_view word : split(style, ',')) {
                if (word == "intel")
                  o.listing.syntax = disasm::Syntax::kIntel;
                else if (word == "att")
                  o.listing.syntax = disasm::Syntax::kAtt;
                else
                  return fail(ErrorCode::kUsage, "knows att and intel, not '{}'", word);
              }
              return {};
            })
      .offers({"att", "intel"});
  flags.text(0, "objdump", o.objdump, "path",
             "objdump binary to use for disassembly and annotations");
  flags.text(0, "prefix", o.listing.source_paths.prefix, "prefix",
             "Add prefix to source file path names in programs (with --prefix-strip)");
  flags.number(0, "prefix-strip", o.listing.source_paths.prefix_strip, "N",
               "Strip first N entries of source file path name in programs (with --prefix)");
}

void declare_columns(FlagTable& flags, Options& o) {
  flags.boolean('l', "print-line", o.listing.places, "print matching source lines (may be slow)");
  flags.boolean('P', "full-paths", o.listing.full_paths, "Don't shorten the displayed pathnames");
  flags.act('n', "show-nr-samples", "Show a column with the number of samples", [&o]() -> Result<> {
    o.column = render::ListingColumn::kSamples;
    return {};
  });
  flags.act(0, "show-total-period", "Show a column with the sum of periods", [&o]() -> Result<> {
    o.column = render::ListingColumn::kPeriod;
    return {};
  });
  flags
      .call(0, "percent-type", "local-period", "Set percent type local/global-period/hits",
            [&o](std::string_view word) -> Result<> {
              o.listing.percent = TRY(parse_percent_type(word));
              return {};
            })
      .offers({"local-period", "local-hits", "global-period", "global-hits"});
  flags.act(0, "stdio", "Use the stdio interface", [&o]() -> Result<> {
    o.formatted = false;
    o.browser = false;
    return {};
  });
  flags.act(0, "stdio2", "Use the stdio2 interface, non-interactive, uses the TUI formatting",
            [&o]() -> Result<> {
              o.formatted = true;
              return {};
            });
  flags
      .call(0, "stdio-color", "mode",
            "'always' (default), 'never' or 'auto' only applicable to --stdio mode",
            [&o](std::string_view word) -> Result<> {
              if (word != "always" && word != "never" && word != "auto")
                return fail(ErrorCode::kUsage, "expects always, never or auto, not '{}'", word);
              o.color = word;
              o.browser = false;
              return {};
            })
      .when_last("always");
  flags.act(0, "tui", "Use the interactive interface", [&o]() -> Result<> {
    o.browser = true;
    return {};
  });
  flags.act(0, "gtk", "Use the interactive interface", []() -> Result<> {
    return fail(ErrorCode::kFailed, "--gtk: there is none; use --stdio");
  });
}

}  // namespace

Result<view::ListingPercent> parse_percent_type(std::string_view word) {
  struct Name {
    std::string_view first, second;
    view::ListingPercent type;
  };
  static constexpr Name kNames[] = {
      {"local-period", "period-local", view::ListingPercent::kLocalPeriod},
      {"local-hits", "hits-local", view::ListingPercent::kLocalHits},
      {"global-period", "period-global", view::ListingPercent::kGlobalPeriod},
      {"global-hits", "hits-global", view::ListingPercent::kGlobalHits}};
  for (const Name& name : kNames)
    if (word == name.first || word == name.second) return name.type;
  return fail(ErrorCode::kUsage,
              "expects local-period, local-hits, global-period or global-hits, not '{}'", word);
}

void declare_flags(FlagTable& flags, Options& o) {
  declare_choice(flags, o);
  declare_symbol_sources(flags, o.symbol_sources);
  flags.boolean(0, "ignore-vmlinux", o.symbol_sources.ignore_vmlinux,
                "don't load vmlinux even if found");
  flags.act('m', "modules", "load module symbols (they always are)", [] { return Result<>(); });
  declare_code(flags, o);
  declare_columns(flags, o);
}

}  // namespace sonde::annotation
