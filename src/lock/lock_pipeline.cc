#include "lock/lock_pipeline.h"

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

class LockPipeline::Decoder {
 public:
  using Item = LockEvent;
  static constexpr bool kKeepsState = true;
  explicit Decoder(LockPipeline& pipeline) : pipeline_(pipeline) {}

  Decoded decode(const RecordView& record, uint32_t id, LockEvent& event) {
    const Places& places = pipeline_.places_[id];
    if (places.kind == LockEventKind::kOther) return Decoded::kNothing;
    SampleHead head;
    if (!places.read(record, head)) return Decoded::kBad;
    const SampleLayout& layout = pipeline_.scan_.events()[EventId(size_t{id})].layout;
    Bytes raw = places.raw_data(record, layout);
    if (raw.empty()) return Decoded::kBad;
    event.time = head.time;
    event.record = record.raw().data();
    event.lock = places.lock.read(raw, record.order);
    event.flags = static_cast<uint32_t>(places.flags.read(raw, record.order));
    event.tid = head.tid;
    event.event = static_cast<uint16_t>(id);
    event.kind = places.kind;
    if (is_lockdep(places.kind)) return Decoded::kItem;
    places.read_chain(record, layout, pipeline_.max_stack_, chain_);
    event.chain = XXH3_64bits(chain_.addresses.data(), chain_.size * sizeof(uint64_t));
    return Decoded::kItem;
  }
  bool decode_other(const OtherRecord& record, LockEvent& /*event*/) {
    pipeline_.machine_.keep(record);
    return false;
  }

 private:
  LockPipeline& pipeline_;
  SampleOffsets::Chain chain_;
};

LockPipeline::LockPipeline(FileScan& scan, ScanMachine& machine, size_t max_stack,
                           LossLedger& losses)
    : scan_(scan),
      machine_(machine),
      losses_(losses),
      max_stack_(max_stack),
      places_(places_by_event<Places>(scan.events(), scan.features(), kKinds,
                                      [](Places& places, const TracepointFormat& format) {
                                        bool lockdep = is_lockdep(places.kind);
                                        places.lock = IntField::of(
                                            format, lockdep ? "lockdep_addr" : "lock_addr");
                                        places.flags = IntField::of(format, "flags");
                                        const TracepointField* name = format.field("name");
                                        if (lockdep && name != nullptr) places.name = *name;
                                      })) {}

bool LockPipeline::has(LockEventKind kind) const {
  return has_kind(places_, kind);
}

std::string LockPipeline::read_name(const LockEvent& event) const {
  const Places& places = places_[event.event];
  ByteOrder order = scan_.facts().order;
  Bytes raw = places.raw_data(record_at(event.record, order),
                              scan_.events()[EventId(size_t{event.event})].layout);
  return std::string(field_string(places.name, raw, order).value_or(""));
}

void LockPipeline::read_chain(const LockEvent& event, SampleOffsets::Chain& chain) const {
  places_[event.event].read_chain(record_at(event.record, scan_.facts().order),
                                  scan_.events()[EventId(size_t{event.event})].layout, max_stack_,
                                  chain);
}

void LockPipeline::run(const Take& take) {
  Decoder decoder(*this);
  counts_ = process_records(scan_, losses_, decoder, SortedBy::kConsumer, take);
}

}  // namespace sonde
