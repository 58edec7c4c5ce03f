// StreamWriter: how records get from a ring to a stream: at once; or copied to blocks that a thread
// of its own writes, so that the ring is free again before the disk is done (--aio), or before what
// stands between (RecordTransform) has done its work. Order is kept. An error of the background
// shows at the next call, or at `flush`.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "perfdata/record_transform.h"
#include "perfdata/writer.h"

namespace sonde {

class StreamWriter final : private RecordTransform::Output {
 public:
  struct Options {
    unsigned blocks = 0;  // that may wait; 0: no thread, unless there is a transform
    RecordTransform* transform = nullptr;  // `begin` was called; must outlive this
  };
  StreamWriter(RecordStream& stream, const Options& options);
  ~StreamWriter() override;
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  /// What the kernel wrote.
  Result<> ring(Bytes records, Bytes rest);
  /// What the recorder made.
  Result<> own(Bytes records);
  /// Waits until everything has been handed to the stream; a transform ends its file.
  Result<> flush();

 private:
  struct Block {
    std::vector<std::byte> bytes;
    bool from_ring = true;
  };
  /// With a transform: what may wait before samples are passed on as they are, and before whoever
  /// reads the rings has to wait.
  static constexpr size_t kBehindBytes = size_t{128} << 20;
  static constexpr size_t kMostBytes = size_t{256} << 20;

  [[nodiscard]] bool has_thread() const { return blocks_ > 0 || transform_ != nullptr; }
  [[nodiscard]] bool is_full() const;
  Result<> enqueue(Bytes records, Bytes rest, bool from_ring);
  Result<> store(Block block, bool behind);
  void work();

  Result<> write_ring(Bytes records) override { return stream_.write_ring(records); }
  Result<> write(Bytes records) override { return stream_.write(records); }
  void release(std::vector<std::byte> block) override;

  RecordStream& stream_;
  unsigned blocks_;
  RecordTransform* transform_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> queue_;
  size_t queued_bytes_ = 0;
  std::vector<std::vector<std::byte>> spare_;  // memory of blocks that were written
  std::optional<Error> failure_;
  bool busy_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sonde
