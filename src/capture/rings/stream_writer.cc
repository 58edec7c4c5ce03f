#include "capture/rings/stream_writer.h"

#include "base/memory_shortage.h"

namespace sonde {

StreamWriter::StreamWriter(RecordStream& stream, const Options& options)
    : stream_(stream), blocks_(options.blocks), transform_(options.transform) {
  if (has_thread()) thread_ = std::thread([this] { work(); });
}

StreamWriter::~StreamWriter() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<> StreamWriter::ring(Bytes records, Bytes rest) {
  return has_thread() ? enqueue(records, rest, true) : stream_.write_ring(records, rest);
}

Result<> StreamWriter::own(Bytes records) {
  return has_thread() ? enqueue(records, {}, false) : stream_.write(records);
}

Result<int> StreamWriter::settle(bool at_once) {
  // A few system calls per second.
  constexpr auto kEvery = std::chrono::milliseconds(200);
  if (has_thread()) return -1;  // it does so itself
  uint64_t bytes = stream_.bytes_written();
  if (bytes == settled_bytes_) return -1;
  auto now = std::chrono::steady_clock::now();
  if (!at_once && now - settled_ < kEvery) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(settled_ + kEvery - now);
    return static_cast<int>(left.count()) + 1;
  }
  settled_bytes_ = bytes;
  settled_ = now;
  TRY(stream_.settle());
  return -1;
}

Result<> StreamWriter::flush() {
  if (!has_thread()) return {};
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty() && !busy_; });
  if (failure_) return std::unexpected(*failure_);
  lock.unlock();
  // The thread has nothing to do until the next record, which comes from us.
  return transform_ == nullptr ? Result<>{} : transform_->finish(*this);
}

bool StreamWriter::is_full() const {
  return transform_ != nullptr ? queued_bytes_ >= kMaxBytes : queue_.size() >= blocks_;
}

Result<> StreamWriter::enqueue(Bytes records, Bytes rest, bool from_ring) {
  Block block{.bytes = {}, .from_ring = from_ring};
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !is_full() || failure_; });
    if (failure_) return std::unexpected(*failure_);
    if (!spare_.empty()) {
      block.bytes = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  block.bytes.clear();
  block.bytes.reserve(records.size() + rest.size());
  block.bytes.insert(block.bytes.end(), records.begin(), records.end());
  block.bytes.insert(block.bytes.end(), rest.begin(), rest.end());
  {
    std::lock_guard lock(mutex_);
    queued_bytes_ += block.bytes.size();
    queue_.push_back(std::move(block));
  }
  changed_.notify_all();
  return {};
}

Result<> StreamWriter::store(Block block, bool behind) {
  if (transform_ != nullptr) return transform_->take(std::move(block.bytes), behind, *this);
  Result<> stored = block.from_ring ? stream_.write_ring(block.bytes) : stream_.write(block.bytes);
  release(std::move(block.bytes));
  return stored;
}

/// Keeps a few, so that not every block allocates memory from the kernel.
void StreamWriter::release(std::vector<std::byte> block) {
  constexpr size_t kSpares = 8;
  std::lock_guard lock(mutex_);
  if (spare_.size() < kSpares) spare_.push_back(std::move(block));
}

void StreamWriter::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !queue_.empty() || stopping_; });
    if (queue_.empty()) return;
    bool behind = queued_bytes_ > kBehindBytes;
    Block block = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= block.bytes.size();
    busy_ = true;
    lock.unlock();
    Result<> stored = within_memory("the records that are being written",
                                    [&] { return store(std::move(block), behind); });
    lock.lock();
    if (stored && queue_.empty()) {
      lock.unlock();
      stored = stream_.settle();
      lock.lock();
    }
    busy_ = false;
    if (!stored && !failure_) failure_ = std::move(stored).error();
    changed_.notify_all();
  }
}

}  // namespace sonde
