#include "cli/front_command.h"

#include <variant>

#include "cli/flag_parser.h"

namespace sonde {

void FrontCommand::declare(FlagTable& flags) {
  declare_own(flags);
  behind_->declare(behind_flags_);
  flags.add_from(behind_flags_);
}

Result<int> FrontCommand::run(Env& env, const Arguments& arguments) {
  std::vector<std::string> words = TRY(words_behind(env));
  ParseOutcome outcome = parse_flags(behind_flags_, words);
  if (const auto* bad = std::get_if<BadFlags>(&outcome))
    return std::unexpected(Error{ErrorCode::kFailed, bad->message});
  if (auto* error = std::get_if<Error>(&outcome)) return std::unexpected(std::move(*error));
  return behind_->run(env, arguments);
}

}  // namespace sonde
