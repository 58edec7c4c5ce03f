// Column: a LargeVector that resize() extends without writing to it. New entries are zero bytes, as
// the kernel provides them: first touching the memory of half a million samples costs 30 ms in one
// thread, so each part of a column is touched by the thread that fills it, and a column that stays
// zero (weights; the event if there is only one) is not touched at all.
//
//   columns.time.resize(samples);   // entries are 0; ids are 0, too, which is not `none`
#pragma once

#include <cstring>
#include <utility>

#include "base/large_vector.h"

namespace sonde {

template <typename T>
struct ColumnAllocator : LargeAllocator<T> {
  using value_type = T;
  template <typename U>
  struct rebind {
    using other = ColumnAllocator<U>;
  };
  static_assert(std::is_trivially_copyable_v<T>);

  ColumnAllocator() = default;
  template <typename U>
  ColumnAllocator(const ColumnAllocator<U>&) {}  // NOLINT(google-explicit-constructor)

  T* allocate(size_t count) {
    T* memory = LargeAllocator<T>::allocate(count);
    if (!LargeAllocator<T>::comes_mapped(count))
      std::memset(static_cast<void*>(memory), 0, count * sizeof(T));
    return memory;
  }
  template <typename U>
  void construct(U* /*entry*/) {}
  template <typename U, typename... Args>
  void construct(U* entry, Args&&... args) {
    ::new (static_cast<void*>(entry)) U(std::forward<Args>(args)...);
  }
};

/// May grow only: after shrinking, entries that come back have their old content.
template <typename T>
using Column = std::vector<T, ColumnAllocator<T>>;

}  // namespace sonde
