// StreamWriter: how records get from a ring to a stream: directly, or copied to blocks that a
// background thread writes, so that the ring is free again before the disk is done (--aio) or
// before the stage in between (RecordTransform) has done its work. Order is preserved. A background
// error is reported by the next call, or by `flush`.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "perfdata/write/record_transform.h"
#include "perfdata/write/writer.h"

namespace sonde {

class StreamWriter final : private RecordTransform::Output {
 public:
  struct Options {
    unsigned blocks = 0;  // that may be queued; 0: no thread, unless there is a transform
    RecordTransform* transform = nullptr;  // `begin` was called; must outlive this
  };
  StreamWriter(RecordStream& stream, const Options& options);
  ~StreamWriter() override;
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  /// Passes on what the kernel wrote.
  Result<> ring(Bytes records, Bytes rest);
  /// Passes on what the recorder made.
  Result<> own(Bytes records);
  /// What was passed on is to be in the file soon, where it outlives us: from time to time, or at
  /// once. Returns after how many ms to ask again; less than 0: nothing is waiting.
  Result<int> settle(bool at_once = false);
  /// Waits until everything has been passed to the stream; a transform ends its file.
  Result<> flush();

  /// Whether a thread of its own transforms, compresses and writes.
  [[nodiscard]] bool has_thread() const { return blocks_ > 0 || transform_ != nullptr; }

 private:
  struct Block {
    std::vector<std::byte> bytes;
    bool from_ring = true;
  };
  /// With a transform: how much may be queued before samples are passed on as they are, and before
  /// the thread that reads the rings has to wait.
  static constexpr size_t kBehindBytes = size_t{128} << 20;
  static constexpr size_t kMaxBytes = size_t{256} << 20;

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
  std::vector<std::vector<std::byte>> spare_;  // memory of blocks already written
  std::optional<Error> failure_;
  uint64_t settled_bytes_ = 0;
  std::chrono::steady_clock::time_point settled_;
  bool busy_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sonde
