#include "capture/aux/aux_ring.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/check.h"

namespace sonde {

SysResult<AuxRing> AuxRing::map(Sys& sys, int fd, perf_event_mmap_page& page, size_t data_size,
                                size_t bytes, bool snapshot) {
  page.aux_offset = page_size() + data_size;
  page.aux_size = bytes;
  // To the kernel, a read-only mapping means that the PMU may overwrite.
  int protection = snapshot ? PROT_READ : PROT_READ | PROT_WRITE;
  SysResult<void*> mapped =
      sys.mmap(bytes, protection, MAP_SHARED, fd, static_cast<off_t>(page.aux_offset));
  if (!mapped) return std::unexpected(mapped.error());
  AuxRing ring(page, {static_cast<std::byte*>(*mapped), bytes});
  ring.sys_ = &sys;
  return ring;
}

AuxRing AuxRing::over(perf_event_mmap_page& page, std::span<std::byte> area) {
  CHECK((area.size() & (area.size() - 1)) == 0);
  return {page, area};
}

AuxRing::AuxRing(AuxRing&& other) noexcept
    : sys_(std::exchange(other.sys_, nullptr)),
      page_(other.page_),
      area_(other.area_),
      tail_(other.tail_),
      head_(other.head_),
      gone_round_(other.gone_round_) {}

AuxRing::~AuxRing() {
  if (sys_ != nullptr) (void)sys_->munmap(area_.data(), area_.size());
}

AuxRing::Piece AuxRing::piece(uint64_t end, size_t size) const {
  size_t begin = static_cast<size_t>(end - size) & (area_.size() - 1);
  size_t until_end = std::min(size, area_.size() - begin);
  return {area_.subspan(begin, until_end), area_.first(size - until_end), end - size};
}

AuxRing::Piece AuxRing::peek() {
  head_ = __atomic_load_n(&page_->aux_head, __ATOMIC_ACQUIRE);
  // A head that is further than the area is long has passed over bytes that are lost.
  uint64_t size = std::min<uint64_t>(head_ - tail_, area_.size());
  return piece(head_, static_cast<size_t>(size));
}

void AuxRing::consume() {
  tail_ = head_;
  __atomic_store_n(&page_->aux_tail, tail_, __ATOMIC_RELEASE);
}

bool AuxRing::has_gone_round(uint64_t head) const {
  size_t position = static_cast<size_t>(head) & (area_.size() - 1);
  return std::ranges::any_of(area_.subspan(position),
                             [](std::byte byte) { return byte != std::byte{0}; });
}

AuxRing::Piece AuxRing::take_newest(size_t most) {
  uint64_t head = __atomic_load_n(&page_->aux_head, __ATOMIC_ACQUIRE);
  gone_round_ = gone_round_ || head > area_.size() || has_gone_round(head);
  uint64_t fresh = area_.size();
  if (gone_round_) {
    if (head < area_.size()) head += area_.size();
  } else {
    fresh = head - std::min(tail_, head);
    tail_ = head;
  }
  return piece(head, static_cast<size_t>(std::min<uint64_t>(fresh, most)));
}

}  // namespace sonde
