// RoundFeed: a pipe that is being written, as stretches of records in time order.
//
// Records wait until their round and the next are over (ordering.h says why), are copied into
// blocks of their own, and the pipe's memory goes: what is held are two rounds and one stretch,
// however long the pipe runs. A stretch ends where the pipe has nothing to read, so that whoever
// watches sees all there is, or where it has grown large, so that a fast pipe is read in big steps.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "perfdata/ordering.h"
#include "perfdata/recording.h"
#include "perfdata/stream_reader.h"

namespace sonde {

class RoundFeed {
 public:
  /// Gets the blocks of a stretch; they are valid during the call. False: no more is wanted.
  using Give = std::function<Result<bool>(const std::vector<RecordBlock>&)>;

  RoundFeed(StreamReader& stream, Give give, LossLedger& losses);
  /// Reads to the end of the pipe. `on_pause` waits for input; where it returns false, what waits
  /// is given and the rest of the pipe is left alone.
  Result<> run(const std::function<bool()>& on_pause);

 private:
  struct Release {
    StreamReader::Mark mark;
    uint64_t rounds;  // that were over then
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
  std::deque<std::vector<std::byte>> bytes_;  // of the stretch, a block each
  std::vector<RecordBlock> blocks_;
  size_t stretch_bytes_ = 0;
  Result<bool> outcome_ = true;  // of the last give
};

}  // namespace sonde
