// RoundPipeline: turns a pipe that is being written into batches of records in time order.
//
// Records wait until their round and the next are over (ordering.h says why), are copied into
// separate blocks, and the pipe's memory is released: two rounds and one segment are held in
// memory, however long the pipe runs. A segment ends when the pipe has nothing to read, so that a
// viewer sees all there is, or when it has grown large, so that a fast pipe is read in big steps.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "perfdata/read/ordering.h"
#include "perfdata/read/recording.h"
#include "perfdata/read/stream_reader.h"

namespace sonde {

class RoundPipeline {
 public:
  /// Receives the blocks of a segment, valid during the call. Return false to stop.
  using Give = std::function<Result<bool>(const std::vector<RecordBlock>&)>;

  RoundPipeline(StreamReader& stream, Give give, LossLedger& losses);
  /// Reads to the end of the pipe. `on_pause` waits for input; if it returns false, pending records
  /// are given and the rest of the pipe is ignored.
  Result<> run(const std::function<bool()>& on_pause);

 private:
  struct Release {
    StreamReader::Mark mark;
    uint64_t rounds;  // that had ended then
  };

  void take(const RecordBlock& block, bool in_file_order);
  void append(std::span<const TimedRecord> records);
  void release();
  Result<bool> give();

  StreamReader& stream_;
  Give give_;
  RoundSorter sorter_;
  uint64_t rounds_ = 0;
  std::deque<Release> releases_;
  std::deque<std::vector<std::byte>> bytes_;  // of the segment, one per block
  std::vector<RecordBlock> blocks_;
  size_t batch_bytes_ = 0;
  Result<bool> outcome_ = true;  // of the last call to give
};

}  // namespace sonde
