// RingBuffer: the memory that the kernel writes records to and we read them from.
//
//   mapping:  one page of control words | 2^n pages of data
//
//   forward    head counts the bytes ever written; we read [tail, head) and then set tail = head,
//              which gives the space back. The kernel drops (and counts) what doesn't fit.
//   backward   (write_backward, read-only mapping) the kernel writes downwards and overwrites the
//              oldest records; head is minus the bytes written. The ring is read while the output
//              is paused: newest record first, up to where the oldest was cut.
//
// A piece that wraps is returned as two views, so nothing is copied. Memory order: head is read
// with acquire, tail written with release, as perf_event_open(2) requires.
#pragma once

#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "base/sys.h"

struct perf_event_mmap_page;

namespace sonde {

/// Page size of the running kernel, in bytes.
[[nodiscard]] size_t page_size();

/// Whole records. If they wrap around the end of the ring, `second` is the rest, and the boundary
/// may be inside a record.
struct RingPiece {
  Bytes first;
  Bytes second;
  [[nodiscard]] size_t size() const { return first.size() + second.size(); }
  [[nodiscard]] bool empty() const { return first.empty(); }
};

class RingBuffer {
 public:
  /// Maps `pages` (a power of two) data pages of the event `fd`. The error is an errno: EPERM if
  /// that would lock more memory than perf_event_mlock_kb allows.
  static SysResult<RingBuffer> map(Sys& sys, int fd, size_t pages, bool backward);
  /// Reads from memory laid out like a mapping; for tests.
  static RingBuffer over(std::byte* mapping, size_t data_size, bool backward);

  RingBuffer(RingBuffer&& other) noexcept;
  RingBuffer& operator=(RingBuffer&& other) noexcept;
  ~RingBuffer();

  /// Forward: what has arrived since the last `consume`. The views are valid until `consume`.
  [[nodiscard]] RingPiece peek();
  /// Gives the space of what `peek` returned back to the kernel.
  void consume();

  /// Backward, while output is paused: all whole records written since the last call.
  [[nodiscard]] RingPiece peek_backward();

  [[nodiscard]] bool is_backward() const { return backward_; }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] size_t data_size() const { return mask_ + 1; }
  [[nodiscard]] const perf_event_mmap_page& page() const { return *page_; }
  /// To be written to by who maps an AUX area; forward rings only.
  [[nodiscard]] perf_event_mmap_page& control_page() { return *page_; }

 private:
  RingBuffer() = default;
  [[nodiscard]] RingPiece piece(uint64_t from, uint64_t to) const;
  void unmap();

  Sys* sys_ = nullptr;  // null: not ours to unmap
  perf_event_mmap_page* page_ = nullptr;
  const std::byte* data_ = nullptr;
  uint64_t mask_ = 0;
  uint64_t tail_ = 0;  // forward: read up to here; backward: head at the last read
  uint64_t head_ = 0;  // forward: end of what `peek` returned
  size_t mapped_size_ = 0;
  int fd_ = -1;
  bool backward_ = false;
};

}  // namespace sonde
