#include "benchmarks/support/tasks.h"

#include <utility>

namespace sonde {

Result<> BenchmarkTasks::start(std::function<bool()> work) {
  if (!as_threads_) return processes_.start(work);
  return threads_.start([this, work = std::move(work)] {
    if (!work()) failed_ = true;
  });
}

void BenchmarkTasks::release() {
  if (as_threads_ && !std::exchange(released_, true)) threads_.release();
}

Result<> BenchmarkTasks::wait() {
  if (!as_threads_) return processes_.wait();
  release();
  threads_.join();
  if (failed_) return fail(ErrorCode::kFailed, "a thread of the benchmark failed");
  return {};
}

}  // namespace sonde
