#include "benchmarks/mem/memory_area.h"

#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "benchmarks/mem/memory_size.h"

namespace sonde {

namespace {

constexpr size_t kOrdinaryPage = 4096, kLargePage = size_t{2} << 20, kHugePage = size_t{1} << 30;

/// mmap(2): the base-2 logarithm of a huge page's size, in bits 26 and up.
int page_flags(size_t page_bytes) {
  if (page_bytes == kOrdinaryPage) return 0;
  return MAP_HUGETLB | std::countr_zero(page_bytes) << MAP_HUGE_SHIFT;
}

}  // namespace

Result<MemoryArea> MemoryArea::map(size_t bytes, size_t page_bytes, int flags) {
  size_t whole = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  void* data = MAP_FAILED;
  errno = ENOMEM;
  if (whole >= bytes)
    data = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | page_flags(page_bytes) | flags, -1, 0);
  if (data != MAP_FAILED) return MemoryArea(static_cast<char*>(data), whole);
  return fail(ErrorCode::kFailed, "cannot map {} bytes of memory: {}{}", bytes,
              std::strerror(errno),
              page_bytes == kOrdinaryPage
                  ? ": choose a smaller --size"
                  : ": reserve pages in /sys/kernel/mm/hugepages, or use --page 4KB");
}

MemoryArea::MemoryArea(MemoryArea&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

MemoryArea::~MemoryArea() {
  if (data_) ::munmap(data_, bytes_);
}

Result<size_t> parse_page_size(std::string_view text) {
  auto bytes = parse_memory_size(text);
  if (bytes && (*bytes == kOrdinaryPage || *bytes == kLargePage || *bytes == kHugePage))
    return *bytes;
  return fail(ErrorCode::kUsage, "Invalid page size:{}: choose 4KB, 2MB or 1GB", text);
}

}  // namespace sonde
