// TraceRings: the AUX areas of a recording, and how their bytes get into the file: an AUXTRACE
// record for each piece, with the piece behind it, and an index of these records for the header.
//
// A full trace is taken whenever its ring of records is read; the PMU, which may have stopped for
// want of space, is then started again. Snapshots are taken on request.
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "base/sys.h"
#include "capture/aux/aux_ring.h"
#include "capture/aux/trace_plan.h"
#include "capture/rings/ring_set.h"
#include "capture/rings/stream_writer.h"
#include "perfdata/header/features.h"
#include "perfdata/write/writer.h"

namespace sonde {

/// AuxtraceRecord's fields that say where a piece of trace comes from.
struct TracePlace {
  uint32_t index = 0;  // of the ring
  uint32_t tid = UINT32_MAX;
  uint32_t cpu = UINT32_MAX;
};

/// The record of a piece, and the piece, filled up to a multiple of 8 bytes.
void write_trace_piece(const AuxRing::Piece& piece, const TracePlace& place, uint64_t reference,
                       ByteBuilder& out);
/// Size of an AUXTRACE record without what follows it, in bytes; as in the index.
inline constexpr uint64_t kTraceRecordSize = 48;

class TraceRings {
 public:
  /// Where the pieces go.
  struct Output {
    StreamWriter& records;  // what was written before stays before
    RecordStream& file;
  };

  /// Maps an area beside each ring that `traced` owns. Errors: explain_map_failure.
  static Result<TraceRings> create(Sys& sys, const TracePlan& plan, const Target& target,
                                   const CaptureEvent& traced, RingSet& rings);

  /// Takes what the area beside ring `ring` holds; returns how many bytes. With `go_on`, the PMU
  /// is then started again. Nothing where it is written over.
  Result<size_t> read(size_t ring, bool go_on, Output output);
  /// Stops the PMU and takes what is newest in every area; with `go_on`, starts it again.
  Result<> take_snapshot(bool go_on, Output output);

  [[nodiscard]] bool takes_snapshots() const { return snapshot_bytes_.has_value(); }
  /// The records since the last `restart`.
  [[nodiscard]] const std::vector<AuxtraceIndexEntry>& index() const { return index_; }
  /// To be called for the next file.
  void restart() { index_.clear(); }

 private:
  struct Area {
    AuxRing ring;
    TracePlace place;
  };
  TraceRings(Sys& sys, const CaptureEvent& traced) : sys_(&sys), traced_(&traced) {}
  Result<> store(const AuxRing::Piece& piece, const TracePlace& place, Output output);
  void start_at(size_t ring) const;
  void set_all(bool on) const;

  Sys* sys_;
  const CaptureEvent* traced_;
  std::vector<Area> areas_;
  std::vector<AuxtraceIndexEntry> index_;
  std::optional<size_t> snapshot_bytes_;
  bool is_read_ = true;
};

}  // namespace sonde
