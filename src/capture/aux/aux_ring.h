// AuxRing: the memory that a tracing PMU writes to, beside the ring of records whose control page
// it shares (perf_event_open(2): aux_offset, aux_size, aux_head, aux_tail).
//
//   full trace  aux_head counts the bytes ever written; we take [aux_tail, aux_head) and then set
//               aux_tail, which gives the space back. The PMU stops where there is none.
//   snapshot    (read-only mapping) the PMU overwrites the oldest bytes. It is stopped while we
//               take what is newest. aux_head may be a position in the area only, so that whether
//               the PMU has gone round shows in the area itself: what it has not yet reached is
//               still zero.
//
// What is taken is contiguous in time; if it wraps around the end of the area, it comes as two
// views, as from a RingBuffer.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/sys.h"
#include "capture/rings/ring_buffer.h"

namespace sonde {

class AuxRing {
 public:
  /// A piece of trace and its place among all bytes of its area.
  struct Piece {
    Bytes first, second;
    uint64_t offset = 0;
    [[nodiscard]] size_t size() const { return first.size() + second.size(); }
    [[nodiscard]] bool empty() const { return size() == 0; }
  };

  /// Maps `bytes` (whole pages, a power of two) as the AUX area of the event `fd`, whose record
  /// ring of `data_size` bytes has the control page `page`. The error is an errno.
  static SysResult<AuxRing> map(Sys& sys, int fd, perf_event_mmap_page& page, size_t data_size,
                                size_t bytes, bool snapshot);
  /// Over memory of the caller; for tests.
  static AuxRing over(perf_event_mmap_page& page, std::span<std::byte> area);

  AuxRing(AuxRing&& other) noexcept;
  AuxRing& operator=(AuxRing&&) = delete;
  ~AuxRing();

  /// Full trace: what has arrived since the last `consume`. Valid until then.
  [[nodiscard]] Piece peek();
  /// Gives the space of what `peek` returned back.
  void consume();

  /// Snapshot: the newest bytes that were not in the last one, at most `most`, the PMU being
  /// stopped. If the area has been written over, all of it: what is new in it cannot be told.
  [[nodiscard]] Piece take_newest(size_t most);

  [[nodiscard]] size_t size() const { return area_.size(); }

 private:
  AuxRing(perf_event_mmap_page& page, std::span<std::byte> area) : page_(&page), area_(area) {}
  [[nodiscard]] Piece piece(uint64_t end, size_t size) const;
  [[nodiscard]] bool has_gone_round(uint64_t head) const;

  Sys* sys_ = nullptr;  // null: not ours to unmap
  perf_event_mmap_page* page_;
  std::span<std::byte> area_;
  uint64_t tail_ = 0, head_ = 0;
  bool gone_round_ = false;
};

}  // namespace sonde
