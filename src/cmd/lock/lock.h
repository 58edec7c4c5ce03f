// The subcommands of `lock`, and what they share.
#pragma once

#include <memory>
#include <string>

#include "cli/command.h"
#include "cmd/options/recording_input.h"
#include "symbol/dso_symbols.h"

namespace sonde {

/// Options accepted before or after the subcommand.
struct LockOptions {
  RecordingInput input;
  SymbolOptions symbols;
  bool quiet = false;

  void declare(FlagTable& flags);
};

std::unique_ptr<Command> make_lock_record(const LockOptions& options);
std::unique_ptr<Command> make_lock_script(const LockOptions& options);
std::unique_ptr<Command> make_lock_report(LockOptions options);
std::unique_ptr<Command> make_lock_info(LockOptions options);
std::unique_ptr<Command> make_lock_contention(LockOptions options);

}  // namespace sonde
