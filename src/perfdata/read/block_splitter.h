// Cuts the bytes of a recording into blocks of whole records, in one scan over the headers. On the
// way it counts the records by type, expands compressed ones and passes those that describe the
// recording to the SetupCollector.
#pragma once

#include <vector>

#include "base/loss.h"
#include "perfdata/read/decompress.h"
#include "perfdata/read/recording.h"
#include "perfdata/read/sample_observer.h"
#include "perfdata/read/setup_collector.h"
#include "perfdata/records/record.h"

namespace sonde {

/// Records counts of types that this version does not know as losses.
void add_unknown_records(const RecordCounts& counts, LossLedger& losses);

struct CutOptions {
  SampleObserver* observer = nullptr;  // receives the uncompressed samples, as part `tap_part`
  size_t observer_part = 0;
  bool only_plain = false;  // stop at records that describe the recording, are followed by data, or
                            // contain other records
  bool in_cache = false;    // prefetching would gain nothing
};

class BlockSplitter {
 public:
  BlockSplitter(ByteOrder order, SetupCollector& setup, LossLedger& losses)
      : order_(order), setup_(&setup), losses_(&losses) {}

  enum class Stop {
    kEnd,         // every byte belongs to a record
    kIncomplete,  // the last record, or the data after it, extends past the bytes
    kNotARecord,  // a header with a size smaller than a header's, or one that extends past the
                  // bytes and has no known type
    kNotPlain,    // see CutOptions
  };
  struct Outcome {
    size_t consumed = 0;  // bytes in whole records, including the data after them
    Stop stop = Stop::kEnd;
  };

  /// Appends blocks of at most about 1 MiB; those of one stream are in order. `expander` belongs to
  /// the stream.
  Outcome split(Bytes bytes, uint64_t file_offset, uint32_t stream, StreamExpander& expander,
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

/// How the scan of a stream of records ended.
struct StreamEnd {
  BlockSplitter::Stop stop = BlockSplitter::Stop::kEnd;
  uint64_t consumed = 0;     // bytes in whole records
  Bytes rest;                // what follows them
  uint64_t file_offset = 0;  // of the rest
  uint64_t missing = 0;      // bytes that the file header promises after the rest
  bool is_complete = false;  // the file header says where the stream ends, and it ends there
};
/// Counts the bytes that were read, and the rest as losses.
void add_stream_end(const StreamEnd& end, const StreamExpander& expander, ByteOrder order,
                    LossLedger& losses);

}  // namespace sonde
