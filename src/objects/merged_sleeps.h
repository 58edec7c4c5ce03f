// `inject -s`: where tasks slept, and for how long. A sched_switch tells where a task went to sleep
// (its call chain), the sched_stat_* event at its wakeup for how long (its period). Each of the
// latter is replaced by a sample at that place with that period; switches and exits are left out,
// as in perf.
//
//   sched_switch      tid 10, chain read ← main          →
//   sched_stat_sleep  tid 77, field pid=10, period 5 ms  →  sched_switch, read ← main, period 5 ms
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "objects/record_rewriter.h"
#include "perfdata/read/recording.h"
#include "replay/fields/field_offsets.h"

namespace sonde {

class MergedSleeps final : public RecordRewriter {
 public:
  /// Fails if switches do not say whose they are.
  static Result<std::unique_ptr<MergedSleeps>> make(const Recording& recording);
  bool rewrite(const InjectedRecord& record, ByteBuilder& out) override;

 private:
  enum class Kind : uint8_t { kOther, kSwitch, kExit, kSleep };
  struct Event {
    Kind kind = Kind::kOther;
    IntField pid;  // of kSleep: the task that slept
  };
  /// The last switch of a task, as a record of its own: the copy reads its input only once.
  struct Switch {
    std::vector<std::byte> payload;
    uint16_t misc;
    EventId event;
  };
  MergedSleeps() = default;
  bool sleep(const InjectedRecord& record, const Sample& sample, ByteBuilder& out);

  const Recording* recording_ = nullptr;
  std::vector<Event> events_;  // by EventId
  std::map<uint32_t, Switch> last_switch_;
};

}  // namespace sonde
