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
    {0, "gtk", nullptr, "show code in a window", "there is no GTK interface; use --stdio"},
};

void declare_choice(FlagTable& flags, Options& o) {
  flags.text('i', "input", o.input, "file",
             "read this recording (default: standard input if that is a pipe, else perf.data)");
  flags.call('d', "dsos", "dso[,dso...]", "show only functions of these objects",
             words_into(o.dsos));
  flags.text('s', "symbol", o.symbol, "symbol", "show only the function of this name");
  flags.boolean('f', "force", o.force, "read the recording even if it belongs to another user");
  flags.count('v', "verbose", o.verbose, "say where the code of each function lies");
  flags.boolean('q', "quiet", o.quiet,
                "print listings only: no warnings, no notes on what is missing");
  flags.boolean('D', "dump-raw-trace", o.dump,
                "print all records, byte by byte and decoded, instead of code");
  flags.call('C', "cpu", "cpu", "only samples of these CPUs", numbers_into(o.cpus));
  flags.boolean(0, "skip-missing", o.skip_missing,
                "do not say which functions are left out because their code is not here");
  flags
      .act(0, "skip-empty", "leave out events without samples (they always are)",
           [] { return Result<>(); })
      .on_negation([] {})
      .without_effect("only functions with samples are listed");
  flags.boolean(0, "group", o.group,
                "show all events side by side, even if they were not recorded as a group");
  flags.call(0, "percent-limit", "percent",
             "leave out functions with less than this percentage of the event",
             [&o](std::string_view word) -> Result<> {
               o.percent_limit = TRY(parse_percent(word));
               return {};
             });
  declare_itrace(flags, ItraceDefaults::kReport, o.itrace);
}

void declare_code(FlagTable& flags, Options& o) {
  declare_listing(flags, o.listing);
  flags
      .text(0, "objdump", o.objdump, "path",
            "path of objdump (not needed: code is decoded without it)")
      .without_effect("code is disassembled without it, which is said");
}

void declare_data(FlagTable& flags, Options& o) {
  flags
      .call(0, "data-type", "name",
            "show the data types that samples accessed, field by field, instead of code",
            [&o](std::string_view name) -> Result<> {
              o.data_type = name;
              return {};
            })
      .when_bare("");
  flags.boolean(0, "type-stat", o.type_counts,
                "with --data-type: how many samples have a type, and what the others lack");
  flags.boolean(0, "insn-stat", o.instruction_counts,
                "with --data-type: how many samples have a type, by kind of instruction");
  flags.boolean(0, "code-with-type", o.code_types,
                "show code, and after each instruction the type and field that it accesses");
}

void declare_columns(FlagTable& flags, Options& o) {
  flags.boolean('l', "print-line", o.listing.places,
                "begin with the share of each source line, and name lines beside the code");
  flags.boolean('P', "full-paths", o.listing.full_paths,
                "show objects and source files with their directories");
  flags.act('n', "show-nr-samples", "show numbers of samples instead of percentages",
            [&o]() -> Result<> {
              o.column = render::ListingColumn::kSamples;
              return {};
            });
  flags.act(0, "show-total-period", "show sums of periods instead of percentages",
            [&o]() -> Result<> {
              o.column = render::ListingColumn::kPeriod;
              return {};
            });
  flags.act(0, "stdio", "print text, instead of opening the browser", [&o]() -> Result<> {
    o.formatted = false;
    o.browser = false;
    return {};
  });
  flags.act(0, "stdio2", "print text that looks as in the browser, instead of opening it",
            [&o]() -> Result<> {
              o.formatted = true;
              return {};
            });
  flags
      .call(0, "stdio-color", "mode",
            "print text, with colours: always (without a mode, too), never, or only on a terminal "
            "(auto, the default)",
            [&o](std::string_view word) -> Result<> {
              if (word != "always" && word != "never" && word != "auto")
                return fail(ErrorCode::kUsage, "expects always, never or auto, not '{}'", word);
              o.color = word;
              o.browser = false;
              return {};
            })
      .when_last("always");
  flags.act(0, "tui", "open the browser (default on a terminal)", [&o]() -> Result<> {
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
                "take the kernel's symbols from no vmlinux but that of -k");
  flags.act('m', "modules", "load module symbols (they always are)", [] { return Result<>(); })
      .without_effect("symbols of modules are always loaded");
  declare_code(flags, o);
  declare_data(flags, o);
  declare_columns(flags, o);
}

}  // namespace sonde::annotation
