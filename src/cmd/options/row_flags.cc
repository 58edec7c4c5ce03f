#include "cmd/options/row_flags.h"

#include "cmd/options/profile_flags.h"

namespace sonde {

void declare_names(FlagTable& flags, NameLetters letters, std::vector<std::string>& comms,
                   std::vector<std::string>& dsos, std::vector<std::string>& symbols) {
  flags.call(letters.comms, "comms", "comm[,comm...]", "only samples of these commands",
             words_into(comms));
  flags.call(letters.dsos, "dsos", "dso[,dso...]", "only samples that fell into these objects",
             words_into(dsos));
  flags.call(letters.symbols, "symbols", "symbol[,symbol...]",
             "only samples that fell into these functions", words_into(symbols));
}

std::function<Result<>(std::string_view)> relative_into(bool& relative) {
  return [&relative](std::string_view word) -> Result<> {
    if (word != "relative" && word != "absolute")
      return fail(ErrorCode::kUsage, "expects relative or absolute, not '{}'", word);
    relative = word == "relative";
    return {};
  };
}

void declare_itrace(FlagTable& flags, ItraceDefaults defaults,
                    std::optional<ItraceOptions>& options) {
  flags
      .call(0, "itrace", "opts",
            "what to make of instruction traces, by letters: i100us samples, b branches, g call "
            "chains …",
            [&options, defaults](std::string_view text) -> Result<> {
              options = TRY(parse_itrace(text, defaults));
              return {};
            })
      .when_bare("");
  flags.act(0, "no-itrace", "do not decode instruction traces", [&options]() -> Result<> {
    options.emplace().decodes = false;
    return {};
  });
}

}  // namespace sonde
