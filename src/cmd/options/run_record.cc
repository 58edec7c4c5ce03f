#include "cmd/options/run_record.h"

#include <variant>

#include "cli/flag_parser.h"
#include "cmd/commands.h"

namespace sonde {

Result<int> run_record(const std::vector<std::string>& words, std::string_view who, Env& env) {
  std::unique_ptr<Command> recorder = find_command(all_commands(), "record")->make();
  TRY(recorder->configure(env.config));
  FlagTable flags;
  recorder->declare(flags);
  ParseOutcome outcome = parse_flags(flags, words);
  if (auto* bad = std::get_if<BadFlags>(&outcome))
    return fail(ErrorCode::kFailed, "{}: {}", who, Error{.message = bad->message});
  if (auto* error = std::get_if<Error>(&outcome)) return std::unexpected(*error);
  if (auto* rest = std::get_if<Arguments>(&outcome)) return recorder->run(env, *rest);
  return fail(ErrorCode::kUsage, "{}: see the help of record", who);
}

}  // namespace sonde
