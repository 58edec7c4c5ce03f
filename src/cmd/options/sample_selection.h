// Which samples of a recording are drawn: --pid, --tid, --comm, --dso, --cpu, --time, by report's
// rules, and -e. For commands that turn a profile into a picture or a file.
#pragma once

#include <string>
#include <vector>

#include "base/sink.h"
#include "cli/flags.h"
#include "stacks/profile_source.h"

namespace sonde {

class SampleSelection {
 public:
  /// The object must outlive the table, and whatever apply() was called for.
  void declare(FlagTable& flags,
               std::string event_help = "of this event (default: the first that has samples)");
  [[nodiscard]] Result<> apply(ProfileSourceOptions& options) const;
  /// The column that -e names, else the first. Says which, if there are others. Errors list those
  /// available.
  [[nodiscard]] Result<size_t> column_of(const StackProfile& profile, Sink& err) const;
  [[nodiscard]] const std::string& event() const { return event_; }

 private:
  [[nodiscard]] Result<std::function<bool(size_t)>> filter_of(const Session& session) const;

  std::string event_;
  std::vector<std::string> comms_, dsos_;
  std::vector<uint32_t> pids_, tids_, cpus_;
  std::string time_;
};

}  // namespace sonde
