#include "lock/futex_pipeline.h"

#include <algorithm>
#include <array>

#include "lock/futex_kind.h"
#include "replay/fields/trace_formats.h"

namespace sonde {
namespace {

/// How a call ended; nullopt for one that did not sleep (EAGAIN), or failed.
std::optional<FutexOutcome> outcome_of(int64_t result) {
  // errno(3), and the kernel's own codes for calls that it will restart (include/linux/errno.h).
  constexpr int64_t kInterrupted = -4, kTimedOut = -110, kRestartLast = -516, kRestartFirst = -512;
  if (result >= 0) return FutexOutcome::kWoken;
  if (result == kTimedOut) return FutexOutcome::kTimedOut;
  if (result == kInterrupted || (result >= kRestartLast && result <= kRestartFirst))
    return FutexOutcome::kInterrupted;
  return std::nullopt;
}

}  // namespace

FutexPipeline::FutexPipeline(const Session& session)
    : session_(session), places_(session.events().size()) {
  struct Named {
    std::string_view name;
    Kind kind;
  };
  constexpr std::array kNamed{Named{"syscalls:sys_enter_futex", Kind::kFutex},
                              Named{"syscalls:sys_enter_futex_wait", Kind::kWait},
                              Named{"syscalls:sys_enter_futex_waitv", Kind::kWaitv},
                              Named{"syscalls:sys_exit_futex", Kind::kExit},
                              Named{"syscalls:sys_exit_futex_wait", Kind::kExit},
                              Named{"syscalls:sys_exit_futex_waitv", Kind::kExit}};
  TraceFormats formats(session.recording());
  for (size_t i = 0; i < places_.size(); ++i) {
    const EventDesc& event = session.events()[EventId(i)];
    if (is_futex_event(event.attr, event.name)) places_[i].kind = Kind::kSums;
    const TracepointFormat* format = formats.of(EventId(i));
    auto named = std::ranges::find(kNamed, event.name, &Named::name);
    if (format == nullptr || named == kNamed.end()) continue;
    places_[i] = {.kind = named->kind,
                  .word = IntField::of(*format, "uaddr"),
                  .operation = IntField::of(*format, "op"),
                  .result = IntField::of(*format, "ret")};
  }
}

bool FutexPipeline::has_waits() const {
  return std::ranges::any_of(places_, [](const Places& places) {
    return places.kind != Kind::kOther && places.kind != Kind::kExit;
  });
}

void FutexPipeline::run(const Take& consume) {
  const SampleColumns& samples = session_.samples();
  Sample content;
  for (uint32_t i : session_.time_order()) {
    const Places& places = places_[samples.event[i]];
    if (places.kind == Kind::kOther || !session_.decode(i, content)) continue;
    if (places.kind == Kind::kExit) {
      leave(i, places, content, consume);
    } else if (places.kind != Kind::kSums) {
      enter(i, places, content);
    } else if (auto note = decode_futex_note(content.raw, content.order)) {
      consume({samples.pid[i], samples.tid[i], samples.time[i], note->word, note->operation,
               note->owner, note->outcome, note->count, samples.period[i], note->longest_ns,
               note->shortest_ns, i});
    }
  }
  unfinished_ += going_.size();
}

void FutexPipeline::enter(size_t sample, const Places& places, const Sample& content) {
  FutexWait wait;
  wait.operation = kFutexWaitBitset;
  if (places.kind == Kind::kFutex)
    wait.operation = static_cast<uint32_t>(places.operation.read(content.raw, content.order)) &
                     kFutexOperationMask;
  const SampleColumns& samples = session_.samples();
  wait.tid = samples.tid[sample];
  if (going_.erase(wait.tid) > 0) ++unfinished_;
  if (!is_futex_wait(wait.operation)) return;
  wait.pid = samples.pid[sample];
  wait.time_ns = samples.time[sample];
  if (places.kind != Kind::kWaitv) wait.word = places.word.read(content.raw, content.order);
  wait.sample = sample;
  going_[wait.tid] = wait;
}

void FutexPipeline::leave(size_t sample, const Places& places, const Sample& content,
                          const Take& consume) {
  const SampleColumns& samples = session_.samples();
  auto found = going_.find(samples.tid[sample]);
  if (found == going_.end()) return;
  FutexWait wait = found->second;
  going_.erase(found);
  auto outcome = outcome_of(static_cast<int64_t>(places.result.read(content.raw, content.order)));
  if (!outcome) return;
  wait.outcome = *outcome;
  wait.count = 1;
  wait.total_ns = wait.longest_ns = wait.shortest_ns = samples.time[sample] - wait.time_ns;
  consume(wait);
}

}  // namespace sonde
