// Parallel work without an order: oneTBB behind one function, so that thread counts are set in one
// place.
#pragma once

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <thread>

#include "base/helper_thread.h"

namespace sonde {

/// Calls `body(i)` for every i in [0, count), on its own threads, which end with it: for a few jobs
/// of a millisecond, before there is work for many threads. (oneTBB takes one to start: it looks
/// for libraries and reads the machine's topology. A whole small report takes five.)
template <typename Body>
void parallel_jobs(size_t count, const Body& body) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++) body(i);
  };
  std::deque<HelperThread> helpers;
  size_t threads = std::min<size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  for (size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
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

}  // namespace sonde
