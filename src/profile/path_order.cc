#include "profile/path_order.h"

#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "base/sorting/parallel_sort.h"

namespace sonde {
namespace {

/// Fewer paths than this are one task.
constexpr size_t kTask = 8192;
constexpr size_t kWordSteps = 2;
constexpr uint32_t kMaxSteps = INT32_MAX;

class PathSorter {
 public:
  PathSorter(std::span<const PathUse> uses, std::span<const uint32_t> key_of_step,
             const PathOrderOptions& options)
      : uses_(uses), key_of_step_(key_of_step), options_(options) {}

  /// Sorts paths that are equal in the first `words` words; word 0 is the head.
  void sort(std::span<OrderedPath> paths, size_t words) const {
    while (paths.size() > 1) {
      for (size_t i = 0; i < paths.size(); ++i) {
        prefetch_uses(uses_, paths, i);
        paths[i].word = word(uses_[paths[i].use], words);
      }
      if (all_alike(paths)) {
        if (words > 0 && has_ended(paths[0].word)) return sort_ended(paths);
        if (is_light(paths)) return cut(paths, words + 1);
        ++words;
        continue;
      }
      sort_by_word(paths);
      return sort_runs(paths, words);
    }
    if (paths.size() == 1 && is_light(paths)) cut(paths, words);
  }

 private:
  /// Zero means "no step", so that shorter paths come first.
  [[nodiscard]] uint64_t word(const PathUse& use, size_t index) const {
    if (index == 0) return head_of(use, options_);
    size_t first = (index - 1) * kWordSteps;
    return (uint64_t{step(use, first)} << 32) | step(use, first + 1);
  }
  [[nodiscard]] uint32_t step(const PathUse& use, size_t index) const {
    if (index >= use.length) return 0;
    return key_at(use, static_cast<uint32_t>(index), key_of_step_, options_.from_root) + 1;
  }
  static bool has_ended(uint64_t word) { return static_cast<uint32_t>(word) == 0; }
  static bool all_alike(std::span<const OrderedPath> paths) {
    return std::ranges::all_of(paths,
                               [&](const OrderedPath& path) { return path.word == paths[0].word; });
  }

  [[nodiscard]] bool is_light(std::span<const OrderedPath> paths) const {
    if (options_.min_weight == 0) return false;
    uint64_t weight = 0;
    for (const OrderedPath& path : paths) weight += uses_[path.use].period;
    return weight < options_.min_weight;
  }
  /// `words`: the number of words in which the light paths are equal.
  void cut(std::span<OrderedPath> paths, size_t words) const {
    size_t steps = words == 0 ? 0 : (words - 1) * kWordSteps;
    for (OrderedPath& path : paths) path.kept = std::min<size_t>(path.kept, steps) & kMaxSteps;
    sort_ended(paths);
  }

  /// Sorts paths that are equal, or whose kept parts are.
  void sort_ended(std::span<OrderedPath> paths) const {
    if (!options_.by_own)  // otherwise all are the same
      std::ranges::sort(paths, {}, [this](const OrderedPath& path) {
        return (uint64_t{uses_[path.use].own} << 32) | path.use;
      });
    for (size_t i = 0; i < paths.size(); ++i) paths[i].is_alike = i > 0 ? 1 : 0;
  }
  static void sort_by_word(std::span<OrderedPath> paths) {
    parallel_sort(paths,
                  [](const OrderedPath& a, const OrderedPath& b) { return a.word < b.word; });
  }

  void sort_runs(std::span<OrderedPath> paths, size_t words) const {
    if (paths.size() < kTask) {
      for_each_run(paths, [&](std::span<OrderedPath> run) { sort_run(run, words); });
      return;
    }
    std::vector<std::span<OrderedPath>> runs;
    for_each_run(paths, [&](std::span<OrderedPath> run) { runs.push_back(run); });
    parallel_for(runs.size(), [&](size_t i) { sort_run(runs[i], words); });
  }
  template <typename Body>
  static void for_each_run(std::span<OrderedPath> paths, const Body& body) {
    for (size_t begin = 0; begin < paths.size();) {
      size_t end = begin + 1;
      while (end < paths.size() && paths[end].word == paths[begin].word) ++end;
      body(paths.subspan(begin, end - begin));
      begin = end;
    }
  }
  void sort_run(std::span<OrderedPath> run, size_t words) const {
    if (words > 0 && has_ended(run[0].word)) return sort_ended(run);
    if (is_light(run)) return cut(run, words + 1);
    sort(run, words + 1);
  }

  std::span<const PathUse> uses_;
  std::span<const uint32_t> key_of_step_;
  PathOrderOptions options_;
};

}  // namespace

LargeVector<OrderedPath> order_paths(std::span<const PathUse> uses,
                                     std::span<const uint32_t> key_of_step,
                                     const PathOrderOptions& options) {
  LargeVector<OrderedPath> paths(uses.size());
  for (uint32_t i = 0; i < uses.size(); ++i) paths[i] = {0, i, uses[i].length & kMaxSteps, 0};
  PathSorter(uses, key_of_step, options).sort(paths, 0);
  return paths;
}

}  // namespace sonde
