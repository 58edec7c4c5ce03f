// Bytes of a recording cut into blocks of whole records: one walk over the headers, which also
// counts the records by type, expands compressed ones and hands those that describe the recording
// to the SetupCollector.
#pragma once

#include <vector>

#include "base/loss.h"
#include "perfdata/decompress.h"
#include "perfdata/record.h"
#include "perfdata/recording.h"
#include "perfdata/sample_tap.h"
#include "perfdata/setup_collector.h"

namespace sonde {

/// Counts of a type that this version does not know, as losses.
void add_unknown_records(const RecordCounts& counts, LossLedger& losses);

struct CutOptions {
  SampleTap* tap = nullptr;  // gets the samples that are not compressed, as those of `tap_part`
  size_t tap_part = 0;
  bool only_plain = false;  // stop at records that describe the recording, or have data behind
                            // them, or hold others
  bool in_cache = false;    // nothing is gained by asking for memory ahead
};

class BlockCutter {
 public:
  BlockCutter(ByteOrder order, SetupCollector& setup, LossLedger& losses)
      : order_(order), setup_(&setup), losses_(&losses) {}

  enum class Stop {
    kEnd,         // every byte was part of a record
    kIncomplete,  // the last record, or the data behind it, goes on beyond the bytes
    kNotARecord,  // a header whose size is less than that of a header, or that goes on beyond
                  // the bytes and has no known type
    kNotPlain,    // see CutOptions
  };
  struct Outcome {
    size_t consumed = 0;  // bytes in whole records, with the data behind them
    Stop stop = Stop::kEnd;
  };

  /// Appends blocks of about 1 MiB at most, those of one stream in order. `expander` is the
  /// stream's own.
  Outcome cut(Bytes bytes, uint64_t file_offset, uint32_t stream, StreamExpander& expander,
              std::vector<RecordBlock>& blocks, const CutOptions& options = {});

  [[nodiscard]] const RecordCounts& counts() const { return counts_; }

 private:
  struct Walk;
  void count(uint32_t type);
  void expand(const RecordView& record, uint32_t stream, StreamExpander& expander,
              std::vector<RecordBlock>& blocks);

  ByteOrder order_;
  SetupCollector* setup_;
  LossLedger* losses_;
  RecordCounts counts_;
};

}  // namespace sonde
