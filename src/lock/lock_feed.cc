#include "lock/lock_feed.h"

#include <xxhash.h>

#include <array>

#include "event/print_fmt/field_format.h"
#include "replay/fields/kinds_of_events.h"

namespace sonde {
namespace {

constexpr std::array kKinds{
    EventKind{"lock:contention_begin", LockEventKind::kContentionBegin},
    EventKind{"lock:contention_end", LockEventKind::kContentionEnd},
    EventKind{"lock:lock_acquire", LockEventKind::kAcquire},
    EventKind{"lock:lock_contended", LockEventKind::kContended},
    EventKind{"lock:lock_acquired", LockEventKind::kAcquired},
    EventKind{"lock:lock_release", LockEventKind::kRelease},
};

}  // namespace

class LockFeed::Cutter {
 public:
  using Item = LockEvent;
  static constexpr bool kKeepsState = true;
  explicit Cutter(LockFeed& feed) : feed_(feed) {}

  Cut cut(const RecordView& record, uint32_t id, LockEvent& event) {
    const Places& places = feed_.places_[id];
    if (places.kind == LockEventKind::kOther) return Cut::kNothing;
    SampleHead head;
    if (!places.read(record, head)) return Cut::kBad;
    const SampleLayout& layout = feed_.walk_.events()[EventId(size_t{id})].layout;
    Bytes raw = places.raw_data(record, layout);
    if (raw.empty()) return Cut::kBad;
    event.time = head.time;
    event.record = record.raw().data();
    event.lock = places.lock.read(raw, record.order);
    event.flags = static_cast<uint32_t>(places.flags.read(raw, record.order));
    event.tid = head.tid;
    event.event = static_cast<uint16_t>(id);
    event.kind = places.kind;
    if (is_lockdep(places.kind)) return Cut::kItem;
    places.read_chain(record, layout, feed_.max_stack_, chain_);
    event.chain = XXH3_64bits(chain_.addresses.data(), chain_.size * sizeof(uint64_t));
    return Cut::kItem;
  }
  bool cut_other(const OtherRecord& record, LockEvent& /*event*/) {
    feed_.machine_.keep(record);
    return false;
  }

 private:
  LockFeed& feed_;
  SamplePlaces::Chain chain_;
};

LockFeed::LockFeed(FileWalk& walk, WalkMachine& machine, size_t max_stack, LossLedger& losses)
    : walk_(walk),
      machine_(machine),
      losses_(losses),
      max_stack_(max_stack),
      places_(places_by_event<Places>(walk.events(), walk.features(), kKinds,
                                      [](Places& places, const TracepointFormat& format) {
                                        bool lockdep = is_lockdep(places.kind);
                                        places.lock = IntPlace::of(
                                            format, lockdep ? "lockdep_addr" : "lock_addr");
                                        places.flags = IntPlace::of(format, "flags");
                                        const TracepointField* name = format.field("name");
                                        if (lockdep && name != nullptr) places.name = *name;
                                      })) {}

bool LockFeed::has(LockEventKind kind) const {
  return has_kind(places_, kind);
}

std::string LockFeed::read_name(const LockEvent& event) const {
  const Places& places = places_[event.event];
  ByteOrder order = walk_.facts().order;
  Bytes raw = places.raw_data(record_at(event.record, order),
                              walk_.events()[EventId(size_t{event.event})].layout);
  return std::string(field_string(places.name, raw, order).value_or(""));
}

void LockFeed::read_chain(const LockEvent& event, SamplePlaces::Chain& chain) const {
  places_[event.event].read_chain(record_at(event.record, walk_.facts().order),
                                  walk_.events()[EventId(size_t{event.event})].layout, max_stack_,
                                  chain);
}

void LockFeed::run(const Take& take) {
  Cutter cutter(*this);
  counts_ = feed_records(walk_, losses_, cutter, SortedBy::kTaker, take);
}

}  // namespace sonde
