// Parallel work: oneTBB behind a few functions, so that thread counts are set in one place.
#pragma once

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <thread>
#include <utility>

#include "base/helper_thread.h"
#include "base/memory_shortage.h"

namespace sonde {

/// Calls `body(i)` for every i in [0, count), on its own threads, which end with it: for a few jobs
/// of a millisecond, before there is work for many threads. (oneTBB takes one to start: it looks
/// for libraries and reads the machine's topology. A whole small report takes five.)
template <typename Body>
void parallel_jobs(size_t count, const Body& body) {
  std::atomic<size_t> next = 0;
  ThreadFailure failure;
  auto work = [&] {
    failure.guard([&] {
      for (size_t i = next++; i < count && !failure.any(); i = next++) body(i);
    });
  };
  {
    std::deque<HelperThread> helpers;
    size_t threads = std::min<size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
    for (size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
  }
  failure.rethrow();
}

/// The same on oneTBB's threads, for any number of jobs of any size. The order is unspecified:
/// results go to slots by index, so that the outcome does not depend on the number of threads (law
/// 5).
///
/// Under ThreadSanitizer we use our own threads: Debian's libtbb is not built with it, so it does
/// not see how a task is handed over, and reports each as a race.
template <typename Body>
void parallel_for(size_t count, const Body& body) {
  if (count == 1) return body(size_t{0});
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  return parallel_jobs(count, body);
#endif
#endif
  oneapi::tbb::parallel_for(size_t{0}, count, body);
}

/// Makes a part for each i in [0, count) on several threads, and hands the parts to `take` one by
/// one, in order. Only a few are held at a time. `take` returns whether it wants more.
template <typename Make, typename Take>
void parallel_in_order(size_t count, const Make& make, const Take& take) {
  using Part = decltype(make(size_t{0}));
  if (count <= 1) {  // without threads
    if (count == 1) take(make(0));
    return;
  }
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  for (size_t i = 0; i < count && take(make(i)); ++i) {
  }
  return;
#endif
#endif
  namespace flow = oneapi::tbb;
  constexpr size_t kPartsPerThread = 4;
  size_t threads = std::max(1u, std::thread::hardware_concurrency());
  size_t next = 0;
  std::atomic<bool> enough = false;
  auto number = flow::make_filter<void, size_t>(flow::filter_mode::serial_in_order,
                                                [&](flow::flow_control& control) {
                                                  if (next == count || enough) control.stop();
                                                  return next++;
                                                });
  auto work = flow::make_filter<size_t, Part>(flow::filter_mode::parallel, make);
  auto hand_over =
      flow::make_filter<Part, void>(flow::filter_mode::serial_in_order, [&](Part part) {
        if (!enough && !take(std::move(part))) enough = true;
      });
  flow::parallel_pipeline(kPartsPerThread * threads, number & work & hand_over);
}

}  // namespace sonde
