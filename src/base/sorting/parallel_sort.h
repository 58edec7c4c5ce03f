// Sorting by comparing, on all cores.
#pragma once

#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <functional>
#include <span>

namespace sonde {

/// Like std::sort, of which it makes no more than one task if there are few items. The order of
/// equal items is unspecified: where it shows, `before` must tell them apart (law 5).
template <typename Item, typename Before = std::less<>>
void parallel_sort(std::span<Item> items, const Before& before = {}) {
  constexpr size_t kFew = 8192;
  bool on_one = items.size() < kFew;
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  on_one = true;  // see parallel_for()
#endif
#endif
  if (on_one)
    std::sort(items.begin(), items.end(), before);
  else
    oneapi::tbb::parallel_sort(items.begin(), items.end(), before);
}

}  // namespace sonde
