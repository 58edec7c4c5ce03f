#include "capture/rings/ring_buffer.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/perf_event.h"
#include "base/check.h"

namespace sonde {

size_t page_size() {
  return static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

SysResult<RingBuffer> RingBuffer::map(Sys& sys, int fd, size_t pages, bool backward) {
  size_t size = (pages + 1) * page_size();
  // To the kernel, a read-only mapping means "overwrite": it then never looks at tail.
  int protection = backward ? PROT_READ : PROT_READ | PROT_WRITE;
  SysResult<void*> mapped = sys.mmap(size, protection, MAP_SHARED, fd, 0);
  if (!mapped) return std::unexpected(mapped.error());
  RingBuffer ring;
  ring.sys_ = &sys;
  ring.page_ = static_cast<perf_event_mmap_page*>(*mapped);
  ring.data_ = static_cast<const std::byte*>(*mapped) + page_size();
  ring.mask_ = pages * page_size() - 1;
  ring.mapped_size_ = size;
  ring.fd_ = fd;
  ring.backward_ = backward;
  return ring;
}

RingBuffer RingBuffer::over(std::byte* mapping, size_t data_size, bool backward) {
  CHECK((data_size & (data_size - 1)) == 0);
  RingBuffer ring;
  ring.page_ = reinterpret_cast<perf_event_mmap_page*>(mapping);
  ring.data_ = mapping + page_size();
  ring.mask_ = data_size - 1;
  ring.backward_ = backward;
  return ring;
}

RingBuffer::RingBuffer(RingBuffer&& other) noexcept
    : sys_(std::exchange(other.sys_, nullptr)),
      page_(other.page_),
      data_(other.data_),
      mask_(other.mask_),
      tail_(other.tail_),
      head_(other.head_),
      mapped_size_(other.mapped_size_),
      fd_(other.fd_),
      backward_(other.backward_) {}

RingBuffer& RingBuffer::operator=(RingBuffer&& other) noexcept {
  if (this == &other) return *this;
  unmap();
  sys_ = std::exchange(other.sys_, nullptr);
  page_ = other.page_;
  data_ = other.data_;
  mask_ = other.mask_;
  tail_ = other.tail_;
  head_ = other.head_;
  mapped_size_ = other.mapped_size_;
  fd_ = other.fd_;
  backward_ = other.backward_;
  return *this;
}

RingBuffer::~RingBuffer() {
  unmap();
}

void RingBuffer::unmap() {
  if (sys_ != nullptr) (void)sys_->munmap(page_, mapped_size_);
  sys_ = nullptr;
}

RingPiece RingBuffer::piece(uint64_t from, uint64_t to) const {
  uint64_t begin = from & mask_;
  uint64_t size = to - from;
  uint64_t until_end = mask_ + 1 - begin;
  if (size <= until_end) return {{data_ + begin, static_cast<size_t>(size)}, {}};
  return {{data_ + begin, static_cast<size_t>(until_end)},
          {data_, static_cast<size_t>(size - until_end)}};
}

RingPiece RingBuffer::peek() {
  head_ = __atomic_load_n(&page_->data_head, __ATOMIC_ACQUIRE);
  if (head_ == tail_) return {};
  return piece(tail_, head_);
}

void RingBuffer::consume() {
  tail_ = head_;
  __atomic_store_n(&page_->data_tail, tail_, __ATOMIC_RELEASE);
}

RingPiece RingBuffer::peek_backward() {
  uint64_t head = __atomic_load_n(&page_->data_head, __ATOMIC_ACQUIRE);
  uint64_t previous = std::exchange(tail_, head);
  if (head == previous) return {};
  // Everything since the last read, unless the ring has wrapped: then the oldest record that is
  // still whole ends where the next one would no longer fit.
  uint64_t written = previous - head;
  if (written <= mask_ + 1) return piece(head, previous);
  uint64_t end = head;
  while (end - head < mask_ + 1) {
    abi::RecordHeader header;
    // Records are 8-byte aligned, so a header never wraps.
    std::memcpy(&header, data_ + (end & mask_), sizeof header);
    if (header.size < sizeof header || end - head + header.size > mask_ + 1) break;
    end += header.size;
  }
  return piece(head, end);
}

}  // namespace sonde
