// The flags of `trace`: from the command line to TraceOptions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "cli/flags.h"
#include "trace/session/options.h"

namespace sonde {

/// The flags of `trace`, and how they turn into options.
class TraceFlags {
 public:
  void declare(FlagTable& flags);
  Result<> configure(const Config& config);
  /// The options with names resolved. kUsage and kBadEvent, each in one clear line.
  Result<TraceOptions> finalize(Env& env, const std::vector<std::string>& command);

 private:
  void declare_targets(FlagTable& flags);
  void declare_choice(FlagTable& flags);
  void declare_lines(FlagTable& flags);
  void declare_tables(FlagTable& flags);
  void declare_chains(FlagTable& flags);
  Result<> set_faults(std::string_view kinds);
  Result<> add_events(const std::string& text, Env& env);
  Result<> add_word(std::string_view word, bool negated, std::string& events);
  Result<> add_cgroup(const std::string& name);
  Result<> check(const std::vector<std::string>& command) const;

  TraceOptions options_;
  using Step = std::function<Result<>(Env&)>;
  std::string configured_events_;  // trace.add_events
  std::vector<Step> steps_;        // -e, --filter and -G, in command-line order
  bool names_calls_ = false;
  std::optional<bool> syscalls_;  // --syscalls, --no-syscalls
  bool has_call_graph_ = false;
  bool no_inherit_ = false;
};

}  // namespace sonde
