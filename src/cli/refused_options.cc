#include "cli/refused_options.h"

namespace sonde {

void declare_refused(FlagTable& flags, std::span<const RefusedOption> options) {
  for (const RefusedOption& option : options) {
    auto refuse = [&option]() -> Result<> {
      return fail(ErrorCode::kFailed, "--{}: {}", option.name, option.reason);
    };
    if (option.argument == nullptr)
      flags.act(option.letter, option.name, option.help, refuse)
          .no_negation()
          .refused(option.reason);
    else
      flags
          .call(option.letter, option.name, option.argument, option.help,
                [refuse](std::string_view) { return refuse(); })
          .refused(option.reason);
  }
}

}  // namespace sonde
