#include "lock/lock_pipeline.h"

#include <array>

#include "event/print_fmt/field_format.h"

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

std::vector<LockFields> fields_of(const FileScan& scan) {
  auto find_fields = [](LockFields& fields, const TracepointFormat& format) {
    bool lockdep = is_lockdep(fields.kind);
    fields.lock = IntField::of(format, lockdep ? "lockdep_addr" : "lock_addr");
    fields.flags = IntField::of(format, "flags");
    const TracepointField* name = format.field("name");
    if (lockdep && name != nullptr) fields.name = *name;
  };
  return places_by_event<LockFields>(scan.events(), scan.features(), kKinds, find_fields);
}

/// Keeps what tells of the kernel's code.
struct LockReader {
  static constexpr bool kKeepsState = true;
  ScanMachine& machine;
  size_t max_stack;
  SampleOffsets::Chain chain;

  static bool wants(const LockFields& fields) { return fields.kind != LockEventKind::kOther; }
  Decoded read(const LockFields& fields, const RecordView& record, const SampleLayout& layout,
               LockEvent& event) {
    SampleHead head;
    Bytes raw;
    if (!read_sample(fields, record, layout, head, raw)) return Decoded::kBad;
    event.time = head.time;
    event.lock = fields.lock.read(raw, record.order);
    event.flags = static_cast<uint32_t>(fields.flags.read(raw, record.order));
    event.tid = head.tid;
    if (is_lockdep(fields.kind)) return Decoded::kItem;
    fields.read_chain(record, layout, max_stack, chain);
    event.chain = digest_of(chain.addresses.data(), chain.size * sizeof(uint64_t));
    return Decoded::kItem;
  }
  bool read_other(const OtherRecord& other, const SampleLayout& /*layout*/,
                  LockEvent& /*event*/) const {
    machine.keep(other);
    return false;
  }
};

}  // namespace

LockPipeline::LockPipeline(FileScan& scan, ScanMachine& machine, size_t max_stack,
                           LossLedger& losses)
    : TracepointScan(scan, fields_of(scan), losses), machine_(machine), max_stack_(max_stack) {}

std::string LockPipeline::read_name(const LockEvent& event) const {
  return std::string(field_string(fields(event).name, raw(event), order()).value_or(""));
}

void LockPipeline::read_chain(const LockEvent& event, SampleOffsets::Chain& chain) const {
  fields(event).read_chain(record(event), layout(event), max_stack_, chain);
}

void LockPipeline::run(const Take& take) {
  LockReader reader{.machine = machine_, .max_stack = max_stack_, .chain = {}};
  scan_with(reader, SortedBy::kConsumer, take);
}

}  // namespace sonde
