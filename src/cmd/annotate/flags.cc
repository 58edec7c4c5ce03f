// The command line of `annotate`: every option of perf's, implemented or refused with a message.
#include "cmd/annotate/flags.h"
#include "base/text.h"
#include "cli/refused_options.h"
#include "cmd/options/listing_flags.h"
#include "cmd/options/profile_flags.h"
#include "cmd/options/row_flags.h"

namespace sonde::annotation {
namespace {

constexpr RefusedOption kAnnotateRefuses[] = {
    {0, "gtk", nullptr, "Use the GTK interface", "there is no GTK interface; use --stdio"},
};

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
  flags.act(0, "skip-empty", "Do not display events without samples", [] { return Result<>(); })
      .on_negation([] {})
      .without_effect("only functions with samples are listed");
  flags.boolean(0, "group", o.group, "Show event group information together");
  flags.call(0, "percent-limit", "percent", "Don't show entries under that percent",
             [&o](std::string_view word) -> Result<> {
               o.percent_limit = TRY(parse_percent(word));
               return {};
             });
  declare_itrace(flags, ItraceDefaults::kReport, o.itrace);
}

void declare_code(FlagTable& flags, Options& o) {
  declare_listing(flags, o.listing);
  flags.text(0, "objdump", o.objdump, "path",
             "objdump binary to use for disassembly and annotations");
}

void declare_data(FlagTable& flags, Options& o) {
  flags
      .call(0, "data-type", "name",
            "Show the data types that samples accessed, field by field, instead of code",
            [&o](std::string_view name) -> Result<> {
              o.data_type = name;
              return {};
            })
      .when_bare("");
  flags.boolean(0, "type-stat", o.type_counts,
                "With --data-type: how many samples have a type, and what the others lack");
  flags.boolean(0, "insn-stat", o.instruction_counts,
                "With --data-type: how many samples have a type, by kind of instruction");
  flags.boolean(0, "code-with-type", o.code_types,
                "Show code, and after each instruction the type and field that it accesses");
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
  declare_refused(flags, kAnnotateRefuses);
}

}  // namespace

void declare_flags(FlagTable& flags, Options& o) {
  declare_choice(flags, o);
  declare_symbol_sources(flags, o.symbol_sources);
  flags.boolean(0, "ignore-vmlinux", o.symbol_sources.ignore_vmlinux,
                "don't load vmlinux even if found");
  flags.act('m', "modules", "load module symbols (they always are)", [] { return Result<>(); })
      .without_effect("symbols of modules are always loaded");
  declare_code(flags, o);
  declare_data(flags, o);
  declare_columns(flags, o);
}

}  // namespace sonde::annotation
