#include "capture/recorders/futex_recorder.h"

#include <algorithm>

#include "base/clock.h"
#include "capture/opening/followed_target.h"
#include "capture/recorders/futex_event.h"
#include "capture/recorders/stacked_sample.h"
#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

FutexNote note_of(const FutexWaits::Row& row) {
  static_assert(static_cast<uint32_t>(FutexWaits::Outcome::kLasts) ==
                static_cast<uint32_t>(FutexOutcome::kLasts));
  return {.word = row.word,
          .operation = row.operation,
          .owner = row.owner,
          .outcome = static_cast<FutexOutcome>(row.outcome),
          .count = row.count,
          .longest_ns = row.longest_ns,
          .shortest_ns = row.shortest_ns};
}

}  // namespace

Result<FutexRecorder> FutexRecorder::open(const Capture& capture, const RecordOptions& options) {
  FutexWaits::Options wanted;
  wanted.tasks = followed_tasks(capture.target, !options.sampling.no_inherit, options.delay);
  wanted.most_rows = options.futex.most_rows;
  auto event = std::ranges::find_if(capture.events, [](const CaptureEvent& candidate) {
    return is_futex_event(candidate.parsed);
  });
  return FutexRecorder(TRY(FutexWaits::open(wanted)), *event);
}

Result<> FutexRecorder::write(ByteBuilder& out) {
  std::vector<FutexWaits::Row> rows = TRY(waits_.rows());
  // In an order that does not depend on that of the kernel's map.
  std::ranges::stable_sort(rows, {}, [](const FutexWaits::Row& row) {
    return std::tuple(row.pid, row.tid, row.word, row.total_ns);
  });
  uint64_t now_ns = monotonic_ns();
  for (const FutexWaits::Row& row : rows) {
    ByteBuilder chain, raw;
    Sample sample;
    set_call_chain({}, row.user_stack, sample, chain);
    sample.id.pid = row.pid;
    sample.id.tid = row.tid;
    sample.id.time = now_ns;
    if (!event_.opened.empty()) sample.id.id = event_.opened.front().id;
    encode(note_of(row), raw);
    sample.raw = raw.view();
    sample.period = row.total_ns;
    encode_sample(sample, event_.attr(), out);
  }
  return {};
}

void FutexRecorder::report_lost(const RecordOptions& options, Env& env) const {
  sonde::report_lost(waits_.lost(), "waits for futexes", options, env);
}

}  // namespace sonde
