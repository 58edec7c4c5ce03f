#pragma once

// What an input may cost: memory and time of the processor in proportion to its size, and a little
// for nothing.
//
//   spend(size, {.bytes_per_byte = 64}, [&] { ... });
//
// Memory is the most that the heap held during the work, as the address sanitizer's allocator says;
// time is this process's own, so that a busy machine does not matter. Both are generous: what they
// catch grows with the square of the input, or with a number in it.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include "base/check.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SONDE_FUZZ_COUNTS_HEAP
#include <sanitizer/allocator_interface.h>
#endif
#endif

namespace sonde {

struct Allowance {
  size_t bytes_per_byte = 64;
  size_t free_bytes = size_t{4} << 20;
  uint64_t ns_per_byte = 20'000;
  uint64_t free_ns = 4'000'000'000;
};

/// The bytes that the heap holds.
class CountedHeap {
 public:
  static CountedHeap& get() {
    static CountedHeap heap;
    return heap;
  }
  /// From now on, `most` is what is held at most; returns what is held now.
  int64_t begin() {
    int64_t held = held_;
    most_ = held;
    return held;
  }
  [[nodiscard]] int64_t most() const { return most_; }

 private:
  CountedHeap() {
#ifdef SONDE_FUZZ_COUNTS_HEAP
    CHECK(__sanitizer_install_malloc_and_free_hooks(
              [](const volatile void*, size_t size) { change(static_cast<int64_t>(size)); },
              [](const volatile void* memory) {
                change(-static_cast<int64_t>(
                    __sanitizer_get_allocated_size(const_cast<const void*>(memory))));
              }) != 0);
#endif
  }
  static void change(int64_t by) {
    int64_t held = held_.fetch_add(by) + by;
    int64_t most = most_;
    while (held > most && !most_.compare_exchange_weak(most, held)) {
    }
  }

  static inline std::atomic<int64_t> held_ = 0, most_ = 0;
};

template <class Work>
void spend(size_t input_bytes, const Allowance& allowance, const Work& work) {
  auto now_ns = [] {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  };
  uint64_t begin_ns = now_ns();
  int64_t before = CountedHeap::get().begin();
  work();
  int64_t grown = CountedHeap::get().most() - before;
  CHECK(grown <=
        static_cast<int64_t>(allowance.free_bytes + allowance.bytes_per_byte * input_bytes));
  CHECK(now_ns() - begin_ns <= allowance.free_ns + allowance.ns_per_byte * input_bytes);
}

}  // namespace sonde
