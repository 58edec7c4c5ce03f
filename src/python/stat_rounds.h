// The counts of a `stat record` as handlers get them: `stat__EVENT(cpu, thread, time, value,
// enabled, running)` for every counter and round, then `stat__interval(time)`.
//
// Values are those of the round alone, scaled if the counter did not run all the time. CPU and
// thread are -1 where the recording was made without -A: then there is one sum per event.
#pragma once

#include <map>
#include <vector>

#include "perfdata/records/user_records.h"
#include "python/script_events.h"

namespace sonde::python {

class StatRounds {
 public:
  StatRounds(ScriptEvents& script, const Session& session) : script_(script), session_(session) {}
  /// Hands over the rounds that end in the session's records; for a pipe, in its current batch.
  Result<> take();

 private:
  /// Counts refer to the thread by its place in the map.
  struct Key {
    uint32_t event, thread;
    int cpu;
    auto operator<=>(const Key&) const = default;
  };
  struct Count {
    uint64_t value = 0, enabled = 0, running = 0;
  };
  void note(const RecordView& record);
  Result<> end_round(uint64_t time);
  Result<> call(uint32_t event, int cpu, int thread, uint64_t time, const Count& count);

  ScriptEvents& script_;
  const Session& session_;
  bool is_global_ = true;
  std::vector<int32_t> tids_;
  std::vector<int> cpus_;
  std::map<Key, Count> last_, now_;  // totals at the end of the last round, and at this one's
};

}  // namespace sonde::python
