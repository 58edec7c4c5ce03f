#include "cmd/options/listing_flags.h"

#include "base/text.h"

namespace sonde {
namespace {

/// Parses "local-period", "hits-global" …: scope and base in either order.
Result<view::ListingPercent> parse_percent_type(std::string_view word) {
  struct Name {
    std::string_view first, second;
    view::ListingPercent type;
  };
  static constexpr Name kPercentNames[] = {
      {"local-period", "period-local", view::ListingPercent::kLocalPeriod},
      {"local-hits", "hits-local", view::ListingPercent::kLocalHits},
      {"global-period", "period-global", view::ListingPercent::kGlobalPeriod},
      {"global-hits", "hits-global", view::ListingPercent::kGlobalHits}};
  for (const Name& name : kPercentNames)
    if (word == name.first || word == name.second) return name.type;
  return fail(ErrorCode::kUsage,
              "expects local-period, local-hits, global-period or global-hits, not '{}'", word);
}

}  // namespace

void declare_listing(FlagTable& flags, annotate::ListingOptions& o) {
  flags.boolean(0, "source", o.source,
                "show the lines of source that instructions belong to, between them (default)");
  flags.boolean(0, "asm-raw", o.raw, "show the bytes of each instruction");
  flags
      .call('M', "disassembler-style", "disassembler style",
            "spell x86 instructions as AT&T does (att, the default) or as Intel does (intel)",
            [&o](std::string_view style) -> Result<> {
              for (std::string_view word : split(style, ',')) {
                if (word == "intel")
                  o.syntax = disasm::Syntax::kIntel;
                else if (word == "att")
                  o.syntax = disasm::Syntax::kAtt;
                else
                  return fail(ErrorCode::kUsage, "expects att or intel, not '{}'", word);
              }
              return {};
            })
      .offers({"att", "intel"});
  flags.text(0, "prefix", o.source_paths.prefix, "prefix",
             "look for source files below this directory, if their path is absolute");
  flags.number(0, "prefix-strip", o.source_paths.prefix_strip, "N",
               "with --prefix: drop the first N directories of that path");
  flags
      .call(0, "percent-type", "local-period",
            "percentages of the function (local, the default) or of the event (global); by period "
            "(default) or hits",
            [&o](std::string_view word) -> Result<> {
              o.percent = TRY(parse_percent_type(word));
              return {};
            })
      .offers({"local-period", "local-hits", "global-period", "global-hits"});
}

Result<> check_listing(const annotate::ListingOptions& options) {
  if (options.source_paths.prefix_strip != 0 && options.source_paths.prefix.empty())
    return fail(ErrorCode::kUsage, "--prefix-strip requires --prefix");
  return {};
}

}  // namespace sonde
