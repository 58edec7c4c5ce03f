#include "capture/stream_writer.h"

namespace sonde {

StreamWriter::StreamWriter(RecordStream& stream, unsigned blocks)
    : stream_(stream), blocks_(blocks) {
  if (blocks_ > 0) thread_ = std::thread([this] { work(); });
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
  return blocks_ == 0 ? stream_.write_ring(records, rest) : enqueue(records, rest, true);
}

Result<> StreamWriter::own(Bytes records) {
  return blocks_ == 0 ? stream_.write(records) : enqueue(records, {}, false);
}

Result<> StreamWriter::flush() {
  if (blocks_ == 0) return {};
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty() && !busy_; });
  if (failure_) return std::unexpected(*failure_);
  return {};
}

Result<> StreamWriter::enqueue(Bytes records, Bytes rest, bool from_ring) {
  Block block{.bytes = {}, .from_ring = from_ring};
  block.bytes.reserve(records.size() + rest.size());
  block.bytes.insert(block.bytes.end(), records.begin(), records.end());
  block.bytes.insert(block.bytes.end(), rest.begin(), rest.end());
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.size() < blocks_ || failure_; });
  if (failure_) return std::unexpected(*failure_);
  queue_.push_back(std::move(block));
  lock.unlock();
  changed_.notify_all();
  return {};
}

Result<> StreamWriter::store(const Block& block) {
  return block.from_ring ? stream_.write_ring(block.bytes) : stream_.write(block.bytes);
}

void StreamWriter::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !queue_.empty() || stopping_; });
    if (queue_.empty()) return;
    Block block = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    Result<> stored = store(block);
    lock.lock();
    busy_ = false;
    if (!stored && !failure_) failure_ = std::move(stored).error();
    changed_.notify_all();
  }
}

}  // namespace sonde
