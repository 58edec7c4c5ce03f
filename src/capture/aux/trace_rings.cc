#include "capture/aux/trace_rings.h"

#include <linux/perf_event.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/clock.h"
#include "capture/opening/open_error.h"
#include "perfdata/records/user_records.h"

namespace sonde {
namespace {

/// The time of a piece, in the ticks of the traces' own times.
uint64_t trace_reference() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return monotonic_ns();
#endif
}

}  // namespace

void write_trace_piece(const AuxRing::Piece& piece, const TracePlace& place, uint64_t reference,
                       ByteBuilder& out) {
  constexpr size_t kAlignment = 8;
  size_t padding = (kAlignment - piece.size() % kAlignment) % kAlignment;
  encode(AuxtraceRecord{.size = piece.size() + padding,
                        .offset = piece.offset,
                        .reference = reference,
                        .index = place.index,
                        .tid = place.tid,
                        .cpu = place.cpu},
         out);
  out.bytes(piece.first);
  out.bytes(piece.second);
  out.zeros(padding);
}

Result<TraceRings> TraceRings::create(Sys& sys, const TracePlan& plan, const Target& target,
                                      const CaptureEvent& traced, RingSet& rings) {
  TraceRings made(sys, traced);
  made.snapshot_bytes_ = plan.snapshot_bytes;
  made.is_read_ = !plan.is_overwritten();
  for (uint32_t i = 0; i < rings.rings().size(); ++i) {
    CaptureRing& ring = rings.rings()[i];
    bool owns = false;
    for (const OpenedEvent& opened : traced.opened) owns |= opened.fd == ring.buffer.fd();
    if (!owns) continue;
    SysResult<AuxRing> area =
        AuxRing::map(sys, ring.buffer.fd(), ring.buffer.control_page(), ring.buffer.data_size(),
                     plan.area_bytes, plan.is_overwritten());
    if (!area) {
      Error error = explain_map_failure(plan.area_bytes / page_size(), area.error());
      error.message.insert(0, fmt::format("{}: no AUX area: ", traced.parsed.name));
      return std::unexpected(std::move(error));
    }
    pid_t tid = ring.cpu < 0 ? ring.tid : target.threads.empty() ? -1 : target.threads.front().tid;
    made.areas_.push_back({.ring = std::move(*area),
                           .place = {.index = i,
                                     .tid = static_cast<uint32_t>(tid),
                                     .cpu = static_cast<uint32_t>(ring.cpu)}});
  }
  return made;
}

Result<size_t> TraceRings::read(size_t ring, bool go_on, Output output) {
  if (!is_read_) return size_t{0};
  for (Area& area : areas_) {
    if (area.place.index != ring) continue;
    AuxRing::Piece piece = area.ring.peek();
    if (piece.empty()) return size_t{0};
    Result<> stored = store(piece, area.place, output);
    area.ring.consume();
    if (!stored) return std::unexpected(std::move(stored).error());
    if (go_on) start_at(ring);
    return piece.size();
  }
  return size_t{0};
}

Result<> TraceRings::take_snapshot(bool go_on, Output output) {
  set_all(false);
  Result<> stored;
  for (Area& area : areas_) {
    AuxRing::Piece piece = area.ring.take_newest(*snapshot_bytes_);
    if (!piece.empty() && stored) stored = store(piece, area.place, output);
  }
  if (go_on) set_all(true);
  return stored;
}

Result<> TraceRings::store(const AuxRing::Piece& piece, const TracePlace& place, Output output) {
  ByteBuilder record;
  write_trace_piece(piece, place, trace_reference(), record);
  TRY(output.records.flush());
  index_.push_back({output.file.position(), kTraceRecordSize});
  return output.file.write(record.view());
}

void TraceRings::start_at(size_t ring) const {
  for (const OpenedEvent& opened : traced_->opened)
    if (opened.ring == ring) (void)sys_->ioctl(opened.fd, PERF_EVENT_IOC_ENABLE, 0);
}

void TraceRings::set_all(bool on) const {
  for (const OpenedEvent& opened : traced_->opened)
    (void)sys_->ioctl(opened.fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

}  // namespace sonde
