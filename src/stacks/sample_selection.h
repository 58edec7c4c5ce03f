// Which samples of a recording are drawn: --pid, --tid, --comm, --dso, --cpu, --time, by report's
// rules, and -e. For commands that turn a profile into a picture or a file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/sink.h"
#include "stacks/profile_source.h"

namespace sonde {

struct SampleSelection {
  std::string event;
  std::vector<std::string> comms, dsos;
  std::vector<uint32_t> pids, tids, cpus;
  std::string time;

  /// This object must outlive what `options` are used for.
  [[nodiscard]] Result<> apply(ProfileSourceOptions& options) const;
  /// The column that `event` names, else the first. Says which, if there are others. Errors list
  /// those available.
  [[nodiscard]] Result<size_t> column_of(const StackProfile& profile, Sink& err) const;

 private:
  [[nodiscard]] Result<std::function<bool(size_t)>> filter_of(const Session& session) const;
};

}  // namespace sonde
