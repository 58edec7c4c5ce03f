// Sorting what consists of ascending runs, as the records of several rings do: neighbouring runs
// are merged until one is left. Equal entries keep their order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sonde {

template <typename T, typename IsBefore>
void merge_runs(std::vector<T>& items, const IsBefore& is_before) {
  constexpr size_t kUsualStretch = 32;
  std::vector<ptrdiff_t> starts;
  for (size_t i = 0; i < items.size(); ++i)
    if (i == 0 || is_before(items[i], items[i - 1])) starts.push_back(static_cast<ptrdiff_t>(i));
  if (starts.size() > items.size() / kUsualStretch + 1)
    return std::stable_sort(items.begin(), items.end(), is_before);
  starts.push_back(static_cast<ptrdiff_t>(items.size()));
  while (starts.size() > 2) {
    std::vector<ptrdiff_t> merged;
    for (size_t i = 0; i + 1 < starts.size(); i += 2) {
      merged.push_back(starts[i]);
      if (i + 2 < starts.size())
        std::inplace_merge(items.begin() + starts[i], items.begin() + starts[i + 1],
                           items.begin() + starts[i + 2], is_before);
    }
    merged.push_back(starts.back());
    starts = std::move(merged);
  }
}

}  // namespace sonde
