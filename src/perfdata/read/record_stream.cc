#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "abi/perf_event.h"
#include "perfdata/header/file_layout.h"
#include "perfdata/write/writer.h"

namespace sonde {
namespace {

// Large enough to hide the cost of a system call, small enough to stay in the cache.
constexpr size_t kGatherBytes = 256 * 1024;
constexpr size_t kWriteInPlaceBytes = 64 * 1024;
constexpr size_t kBordersKept = 256;

/// The end of the last whole record within the first `limit` bytes.
size_t last_border(Bytes records, size_t limit) {
  size_t border = 0;
  while (border + sizeof(abi::RecordHeader) <= limit) {
    auto size = load<uint16_t>(records.data() + border + offsetof(abi::RecordHeader, size));
    if (size < sizeof(abi::RecordHeader) || border + size > limit) break;
    border += size;
  }
  return border;
}

}  // namespace

RecordStream::RecordStream(Sys& sys, Fd fd, std::string name, bool seekable)
    : sys_(sys), fd_(std::move(fd)), name_(std::move(name)), seekable_(seekable) {
  gathered_.reserve(kGatherBytes);
}

Result<> RecordStream::write(Bytes records, Bytes rest) {
  if (error_) return std::unexpected(*error_);
  bytes_.fetch_add(records.size() + rest.size(), std::memory_order_relaxed);
  return store(records, rest);
}

Result<> RecordStream::write_ring(Bytes records, Bytes rest) {
  if (!compressor_) return write(records, rest);
  if (error_) return std::unexpected(*error_);
  // The uncompressed stream continues from piece to piece; record boundaries don't matter.
  for (Bytes piece : {records, rest}) {
    while (!piece.empty()) {
      Bytes part = piece.first(std::min(piece.size(), compress_limit_));
      packed_.clear();
      TRY(compressor_->compress(part, packed_));
      TRY(write(packed_.view()));
      piece = piece.subspan(part.size());
    }
  }
  return {};
}

Result<> RecordStream::store(Bytes records, Bytes rest) {
  size_t size = records.size() + rest.size();
  if (gathered_.size() + size > kGatherBytes) TRY(flush());
  if (rest.empty() && size >= kWriteInPlaceBytes) {
    TRY(flush());
    return put(records);
  }
  gathered_.insert(gathered_.end(), records.begin(), records.end());
  gathered_.insert(gathered_.end(), rest.begin(), rest.end());
  if (gathered_.size() > kGatherBytes) return flush();
  return {};
}

Result<> RecordStream::flush() {
  if (error_) return std::unexpected(*error_);
  if (gathered_.empty()) return {};
  Result<> result = put(gathered_);
  gathered_.clear();
  return result;
}

Result<> RecordStream::settle() {
  TRY(flush());
  // If this fails, the file reads like that of a recorder that was killed earlier.
  if (seekable_ && prologue_size_ > 0) [[maybe_unused]]
    ssize_t told = ::pwrite(fd_.get(), &on_disk_, sizeof on_disk_, kDataSizeOffset);
  return {};
}

Result<> RecordStream::put_prologue(Bytes prologue) {
  size_t written = 0;
  while (written < prologue.size()) {
    auto result = sys_.write(fd_.get(), prologue.data() + written, prologue.size() - written);
    if (!result && result.error() == EINTR) continue;
    if (!result) {
      error_ = Error{ErrorCode::kIo,
                     fmt::format("failed to write {}: {}", name_, std::strerror(result.error()))};
      return std::unexpected(*error_);
    }
    written += *result;
  }
  prologue_size_ = prologue.size();
  return {};
}

Result<> RecordStream::put(Bytes whole_records) {
  size_t written = 0;
  while (written < whole_records.size()) {
    auto result =
        sys_.write(fd_.get(), whole_records.data() + written, whole_records.size() - written);
    if (!result && result.error() == EINTR) continue;
    if (!result) return give_up(result.error(), whole_records, written);
    written += *result;
  }
  on_disk_ += whole_records.size();
  borders_.push_back(on_disk_);
  if (borders_.size() > kBordersKept) borders_.pop_front();
  return {};
}

std::unexpected<Error> RecordStream::give_up(int error, Bytes interrupted, size_t written) {
  const char* reason = std::strerror(error);
  if (!seekable_) {
    error_ = Error{ErrorCode::kIo, fmt::format("failed to write {}: {}", name_, reason)};
    return std::unexpected(*error_);
  }
  on_disk_ += last_border(interrupted, written);
  borders_.push_back(on_disk_);
  auto size = static_cast<off_t>(prologue_size_ + on_disk_);
  if (::ftruncate(fd_.get(), size) == 0) ::lseek(fd_.get(), size, SEEK_SET);
  error_ = Error{ErrorCode::kIo,
                 fmt::format("failed to write {}: {}; it is complete up to this point and can be "
                             "read; the rest of the recording is lost",
                             name_, reason)};
  return std::unexpected(*error_);
}

}  // namespace sonde
