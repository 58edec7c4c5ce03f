#include "cmd/options/scan_with_stacks.h"

#include "cmd/options/profile_flags.h"

namespace sonde {

Result<> ScanWithStacks::open() {
  scan_.emplace(TRY(input_.open_scan(env_)));
  return {};
}

Result<> ScanWithStacks::add_stacks(const StackSubject& subject, const SymbolOptions& symbols,
                                    uint32_t max_stack) {
  scan_.reset();
  SessionOptions options;
  options.open = input_.open_options(env_);
  options.symbols = symbols;
  options.chains = {.max_stack = frames_to_keep(max_stack)};
  options.inlines = chosen_inlines(std::nullopt);
  session_.emplace(TRY(Session::open(input_.chosen_path(env_), options, env_)));
  scan_.emplace(session_->recording(), counted_already_);
  stacks_.emplace(*session_, subject);
  return {};
}

}  // namespace sonde
