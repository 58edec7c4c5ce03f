#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

/// The bytes of the record that `at` begins with, and of the trace after an AUXTRACE; 0 if that is
/// not clear from them.
uint64_t extent_of(Bytes at) {
  if (at.size() < sizeof(abi::RecordHeader)) return 0;
  uint64_t size = load<uint16_t>(at.data() + offsetof(abi::RecordHeader, size));
  if (size < sizeof(abi::RecordHeader)) return 0;
  if (load<uint32_t>(at.data()) != abi::kRecordAuxtrace) return size;
  constexpr size_t kTraceSize = sizeof(uint64_t);
  if (at.size() < sizeof(abi::RecordHeader) + kTraceSize) return 0;
  return size + load<uint64_t>(at.data() + sizeof(abi::RecordHeader));
}

/// The end of the last whole record within the first `limit` bytes.
size_t last_border(Bytes records, size_t limit) {
  size_t border = 0;
  while (border < limit) {
    uint64_t extent = extent_of(records.subspan(border));
    if (extent == 0 || extent > limit - border) break;
    border += extent;
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

RecordStream::Stored RecordStream::store_all(Bytes bytes) {
  Stored stored;
  while (stored.bytes < bytes.size()) {
    auto result = sys_.write(fd_.get(), bytes.data() + stored.bytes, bytes.size() - stored.bytes);
    if (!result && result.error() == EINTR) continue;
    if (!result) {
      stored.error = result.error();
      break;
    }
    stored.bytes += *result;
  }
  return stored;
}

RecordStream::Stored RecordStream::store_at(uint64_t offset, Bytes bytes) {
  if (::lseek(fd_.get(), static_cast<off_t>(offset), SEEK_SET) < 0) return {0, errno};
  return store_all(bytes);
}

Result<> RecordStream::put_prologue(Bytes prologue) {
  Stored stored = store_all(prologue);
  if (stored.error != 0) {
    if (seekable_) (void)::ftruncate(fd_.get(), 0);
    error_ = room_error(name_, stored.error, "nothing was recorded");
    return std::unexpected(*error_);
  }
  prologue_size_ = prologue.size();
  return {};
}

Result<> RecordStream::put(Bytes whole_records) {
  Stored stored = store_all(whole_records);
  if (stored.error != 0) return give_up(stored.error, whole_records, stored.bytes);
  on_disk_ += whole_records.size();
  borders_.push_back(on_disk_);
  if (borders_.size() > kBordersKept) borders_.pop_front();
  return {};
}

std::unexpected<Error> RecordStream::give_up(int error, Bytes interrupted, size_t written) {
  if (!seekable_) {
    error_ =
        Error{ErrorCode::kIo, fmt::format("failed to write {}: {}", name_, std::strerror(error))};
    return std::unexpected(*error_);
  }
  on_disk_ += last_border(interrupted, written);
  borders_.push_back(on_disk_);
  auto size = static_cast<off_t>(end_of_file());
  if (::ftruncate(fd_.get(), size) == 0) ::lseek(fd_.get(), size, SEEK_SET);
  error_ = room_error(name_, error,
                      "it is complete up to this point and can be read; the rest of the recording "
                      "is lost");
  return std::unexpected(*error_);
}

bool RecordStream::shrink(uint64_t bytes) {
  if (on_disk_ == 0) return false;
  uint64_t limit = on_disk_ - std::min(on_disk_, bytes);
  while (!borders_.empty() && borders_.back() > limit) borders_.pop_back();
  on_disk_ = border_before(borders_.empty() ? 0 : borders_.back(), limit);
  (void)::ftruncate(fd_.get(), static_cast<off_t>(end_of_file()));
  return true;
}

/// The end of the last record up to `limit`, from a border before it on.
uint64_t RecordStream::border_before(uint64_t border, uint64_t limit) const {
  std::vector<std::byte> piece(kGatherBytes);
  while (border < limit) {
    ssize_t got =
        ::pread(fd_.get(), piece.data(), piece.size(), static_cast<off_t>(prologue_size_ + border));
    if (got <= 0) break;
    Bytes bytes = Bytes(piece).first(static_cast<size_t>(got));
    size_t whole = last_border(bytes, std::min<uint64_t>(bytes.size(), limit - border));
    uint64_t extent = whole > 0 ? whole : extent_of(bytes);  // a trace longer than the piece
    if (extent == 0 || extent > limit - border) break;
    border += extent;
  }
  return border;
}

bool is_want_of_room(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

Error room_error(const std::string& name, int error, std::string_view what) {
  std::string text = fmt::format("failed to write {}: {}; {}", name, std::strerror(error), what);
  if (error == EFBIG) text += ": raise the limit (ulimit -f)";
  if (error == ENOSPC || error == EDQUOT)
    text += ": free some space, or name another place with -o";
  return {ErrorCode::kIo, std::move(text)};
}

}  // namespace sonde
