#include "histogram/histogram_set.h"

#include <algorithm>
#include <cmath>

namespace sonde {

int32_t Histogram::percentile(double share) const {
  auto rank = static_cast<uint64_t>(std::ceil(share * static_cast<double>(count)));
  uint64_t reached = 0;
  for (const auto& [bucket, events] : buckets) {
    reached += events;
    if (reached >= std::max<uint64_t>(rank, 1)) return bucket;
  }
  return buckets.rbegin()->first;
}

uint64_t HistogramSet::events() const {
  uint64_t all = 0;
  for (const Histogram& one : histograms) all += one.count;
  return all;
}

double HistogramSet::mean(const Histogram& histogram) const {
  if (histogram.count == 0) return 0;
  double sum = is_signed ? static_cast<double>(static_cast<int64_t>(histogram.sum))
                         : static_cast<double>(histogram.sum);
  return sum / static_cast<double>(histogram.count);
}

void HistogramSet::sort() {
  std::ranges::sort(histograms, [](const Histogram& a, const Histogram& b) {
    return a.count != b.count ? a.count > b.count : a.key < b.key;
  });
}

HistogramSet difference(const HistogramSet& now, const HistogramSet& before) {
  std::map<std::string_view, const Histogram*> earlier;
  for (const Histogram& one : before.histograms) earlier[one.key] = &one;
  HistogramSet made = now;
  for (Histogram& one : made.histograms) {
    auto found = earlier.find(one.key);
    if (found == earlier.end()) continue;
    for (const auto& [bucket, events] : found->second->buckets) one.buckets[bucket] -= events;
    std::erase_if(one.buckets, [](const auto& entry) { return entry.second == 0; });
    one.count -= found->second->count;
    one.sum -= found->second->sum;
  }
  std::erase_if(made.histograms, [](const Histogram& one) { return one.count == 0; });
  made.sort();
  return made;
}

}  // namespace sonde
