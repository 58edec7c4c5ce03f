#include "cmd/options/scan_or_session.h"

#include "cmd/options/profile_flags.h"

namespace sonde {

SessionOptions stack_session(const SymbolOptions& symbols, uint32_t max_stack) {
  SessionOptions options;
  options.symbols = symbols;
  options.chains = {.max_stack = frames_to_keep(max_stack)};
  options.inlines = chosen_inlines(std::nullopt);
  return options;
}

Result<> ScanOrSession::open() {
  if (input_.chosen_path(env_) == "-")
    TRY(session());
  else
    scan_.emplace(TRY(input_.open_scan(env_)));
  return {};
}

Result<const Session*> ScanOrSession::session() {
  if (!session_) {
    scan_.reset();
    session_.emplace(TRY(input_.open_session(how_, env_)));
    scan_.emplace(session_->recording(), counted_already_);
  }
  return &*session_;
}

Result<> ScanOrSession::add_stacks(const StackSubject& subject) {
  stacks_.emplace(*TRY(session()), subject);
  return {};
}

}  // namespace sonde
