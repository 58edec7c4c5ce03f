#include "cmd/options/walk_with_stacks.h"

#include "cmd/options/profile_flags.h"

namespace sonde {

Result<> WalkWithStacks::open() {
  walk_.emplace(TRY(input_.open_walk(env_)));
  return {};
}

Result<> WalkWithStacks::add_stacks(const StackSubject& subject, const SymbolOptions& symbols,
                                    uint32_t max_stack) {
  walk_.reset();
  SessionOptions options;
  options.open = input_.open_options(env_);
  options.symbols = symbols;
  options.max_stack = frames_to_keep(max_stack);
  options.inlines = chosen_inlines(std::nullopt);
  session_.emplace(TRY(Session::open(input_.chosen_path(env_), options, env_)));
  walk_.emplace(session_->recording(), counted_already_);
  stacks_.emplace(*session_, subject);
  return {};
}

}  // namespace sonde
