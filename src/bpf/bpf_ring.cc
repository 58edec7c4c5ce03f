#include "bpf/bpf_ring.h"

#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace sonde {
namespace {

size_t page_bytes() {
  return static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

uint64_t position_at(const std::byte* page) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(page), __ATOMIC_ACQUIRE);
}

}  // namespace

Result<BpfRing> BpfRing::map(Fd fd, size_t bytes) {
  BpfRing ring;
  size_t page = page_bytes();
  auto refused = [] {
    return fail(ErrorCode::kUnsupported, "cannot map the ring buffer of a BPF program: {}",
                std::strerror(errno));
  };
  void* reader = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (reader == MAP_FAILED) return refused();
  ring.reader_page_ = static_cast<std::byte*>(reader);
  void* writer =
      ::mmap(nullptr, page + 2 * bytes, PROT_READ, MAP_SHARED, fd.get(), static_cast<off_t>(page));
  if (writer == MAP_FAILED) {
    auto error = refused();
    ::munmap(reader, page);
    ring.reader_page_ = nullptr;
    return error;
  }
  ring.writer_pages_ = static_cast<const std::byte*>(writer);
  ring.bytes_ = bytes;
  ring.fd_ = std::move(fd);
  ring.position_ = position_at(ring.reader_page_);
  return ring;
}

BpfRing::BpfRing(BpfRing&& other) noexcept
    : fd_(std::move(other.fd_)),
      bytes_(other.bytes_),
      reader_page_(std::exchange(other.reader_page_, nullptr)),
      writer_pages_(std::exchange(other.writer_pages_, nullptr)),
      position_(other.position_),
      end_(other.end_),
      front_bytes_(other.front_bytes_) {}

BpfRing::~BpfRing() {
  if (reader_page_ == nullptr) return;
  size_t page = page_bytes();
  ::munmap(reader_page_, page);
  ::munmap(const_cast<std::byte*>(writer_pages_), page + 2 * bytes_);
}

void BpfRing::look() {
  end_ = position_at(writer_pages_);
}

Bytes BpfRing::front() {
  while (position_ < end_) {
    const std::byte* header = writer_pages_ + page_bytes() + (position_ & (bytes_ - 1));
    uint32_t length = __atomic_load_n(reinterpret_cast<const uint32_t*>(header), __ATOMIC_ACQUIRE);
    if ((length & BPF_RINGBUF_BUSY_BIT) != 0) return {};
    uint32_t size = length & ~BPF_RINGBUF_DISCARD_BIT;
    front_bytes_ = (BPF_RINGBUF_HDR_SZ + size + 7) & ~uint64_t{7};
    if ((length & BPF_RINGBUF_DISCARD_BIT) == 0) return {header + BPF_RINGBUF_HDR_SZ, size};
    pop();
  }
  return {};
}

void BpfRing::pop() {
  position_ += std::exchange(front_bytes_, 0);
}

void BpfRing::release() {
  __atomic_store_n(reinterpret_cast<uint64_t*>(reader_page_), position_, __ATOMIC_RELEASE);
}

}  // namespace sonde
