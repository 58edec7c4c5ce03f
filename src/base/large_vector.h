// Vectors for columns and tables with millions of entries: their memory is in huge pages if the
// kernel has some, so that first touching it costs one page fault per 2 MiB instead of 512, and
// reserving more than is used costs nothing.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

namespace sonde {

template <typename T>
struct LargeAllocator {
  using value_type = T;

  LargeAllocator() = default;
  template <typename U>
  LargeAllocator(const LargeAllocator<U>&) {}  // NOLINT(google-explicit-constructor)

  T* allocate(size_t count) {
    if (count > std::numeric_limits<size_t>::max() / sizeof(T) / 2)
      throw std::bad_array_new_length();
    size_t size = count * sizeof(T);
    if (!comes_mapped(count)) return static_cast<T*>(::operator new(size));
    // Kernels before 6.7 don't align by themselves: the excess is unmapped.
    size = whole_pages(size);
    size_t room = size + kHugePage;
    void* mapped = ::mmap(nullptr, room, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    char* start = static_cast<char*>(mapped);
    size_t before = (kHugePage - reinterpret_cast<uintptr_t>(start) % kHugePage) % kHugePage;
    if (before > 0) ::munmap(start, before);
    ::munmap(start + before + size, kHugePage - before);
    ::madvise(start + before, size, MADV_HUGEPAGE);  // if that fails, small pages will do
    return reinterpret_cast<T*>(start + before);
  }
  void deallocate(T* memory, size_t count) {
    if (!comes_mapped(count))
      ::operator delete(memory);
    else
      ::munmap(memory, whole_pages(count * sizeof(T)));
  }
  /// Whether that many are mapped directly, as untouched zero pages.
  static constexpr bool comes_mapped(size_t count) { return count * sizeof(T) >= kLarge; }
  friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }

 private:
  static constexpr size_t kHugePage = size_t{1} << 21;
  static constexpr size_t kLarge = kHugePage / 2;
  static size_t whole_pages(size_t size) { return (size + kHugePage - 1) / kHugePage * kHugePage; }
};

template <typename T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace sonde
