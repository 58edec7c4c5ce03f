// StreamWriter: how records get from a ring to a stream: at once, or (--aio) copied to one of a few
// blocks that a thread of its own writes, so that the ring is free again before the disk is done.
// Order is kept. An error of the background shows at the next call, or at `flush`.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "perfdata/writer.h"

namespace sonde {

class StreamWriter {
 public:
  /// `blocks` 0: no thread.
  StreamWriter(RecordStream& stream, unsigned blocks);
  ~StreamWriter();
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  /// What the kernel wrote.
  Result<> ring(Bytes records, Bytes rest);
  /// What the recorder made.
  Result<> own(Bytes records);
  /// Waits until everything has been handed to the stream.
  Result<> flush();

 private:
  struct Block {
    std::vector<std::byte> bytes;
    bool from_ring = true;
  };
  Result<> enqueue(Bytes records, Bytes rest, bool from_ring);
  Result<> store(const Block& block);
  void work();

  RecordStream& stream_;
  unsigned blocks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> queue_;
  std::optional<Error> failure_;
  bool busy_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sonde
