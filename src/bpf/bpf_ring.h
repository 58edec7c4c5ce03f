// BpfRing: a BPF ring buffer (BPF_MAP_TYPE_RINGBUF) read in place, without a system call or a copy.
//
//   BpfRing ring = TRY(BpfRing::map(fd, bytes));
//   ring.look();                                      what has been written so far
//   while (Bytes record = ring.front(); !record.empty()) { … ring.pop(); }
//   ring.release();                                   the space of what was popped is free again
//
// Layout and protocol: kernel/bpf/ringbuf.c; one page with the reader's position, one with the
// writer's, then the data mapped twice in a row, so that a record that wraps is contiguous.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"

namespace sonde {

class BpfRing {
 public:
  /// `bytes`: the map's max_entries. Owns `fd`.
  static Result<BpfRing> map(Fd fd, size_t bytes);
  BpfRing(BpfRing&& other) noexcept;
  BpfRing& operator=(BpfRing&&) = delete;
  ~BpfRing();

  /// Makes front() cover what has been written up to now.
  void look();
  /// The oldest record that is completely written; empty: none. Valid until release().
  [[nodiscard]] Bytes front();
  void pop();
  void release();

 private:
  BpfRing() = default;
  Fd fd_;
  size_t bytes_ = 0;
  std::byte* reader_page_ = nullptr;
  const std::byte* writer_pages_ = nullptr;  // position, then the data
  uint64_t position_ = 0, end_ = 0;
  uint64_t front_bytes_ = 0;  // with header and padding; 0: front() was not called
};

}  // namespace sonde
