#include "benchmarks/support/worker_threads.h"

#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <ctime>

#include "base/file.h"

namespace sonde {

namespace {

constexpr size_t kStackBytes = 128 * 1024;  // tens of thousands of threads should fit

struct ThreadAttributes {
  ThreadAttributes() {
    ::pthread_attr_init(&value);
    ::pthread_attr_setstacksize(&value, kStackBytes);
  }
  ThreadAttributes(const ThreadAttributes&) = delete;
  ThreadAttributes& operator=(const ThreadAttributes&) = delete;
  ~ThreadAttributes() { ::pthread_attr_destroy(&value); }
  void bind(int cpu) {
    std::vector<cpu_set_t> sets(static_cast<size_t>(cpu) / CPU_SETSIZE + 1);
    size_t bytes = sets.size() * sizeof(cpu_set_t);
    CPU_ZERO_S(bytes, sets.data());
    CPU_SET_S(static_cast<size_t>(cpu), bytes, sets.data());
    ::pthread_attr_setaffinity_np(&value, bytes, sets.data());
  }
  pthread_attr_t value{};
};

/// proc_pid_stat(5): the state is the letter after the name, which is in parentheses.
bool is_asleep(pid_t thread) {
  auto stat = read_file("/proc/self/task/" + std::to_string(thread) + "/stat");
  if (!stat) return true;  // it has ended
  size_t name_end = stat->rfind(") ");
  return name_end != std::string::npos && stat->substr(name_end + 2).starts_with('S');
}

}  // namespace

std::vector<int> allowed_cpus() {
  constexpr size_t kSets = 16;  // 16384 CPUs
  std::vector<cpu_set_t> sets(kSets);
  size_t bytes = kSets * sizeof(cpu_set_t);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, bytes, sets.data()) == 0)
    for (size_t cpu = 0; cpu < kSets * CPU_SETSIZE; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, sets.data())) cpus.push_back(static_cast<int>(cpu));
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

Result<> WorkerThreads::start(std::function<void()> work, std::optional<int> cpu) {
  ThreadAttributes attributes;
  if (cpu) attributes.bind(*cpu);
  threads_.push_back(std::make_unique<Worker>(this, std::move(work), pthread_t{}));
  Worker& worker = *threads_.back();
  int error = ::pthread_create(&worker.handle, &attributes.value, body, &worker);
  if (error == 0) return {};
  threads_.pop_back();
  return fail(ErrorCode::kFailed,
              "cannot start thread {}: {}: use fewer threads, or raise the limit (ulimit -u)",
              threads_.size() + 1, std::strerror(error));
}

void* WorkerThreads::body(void* argument) {
  auto& worker = *static_cast<Worker*>(argument);
  WorkerThreads& all = *worker.all;
  worker.id = ::gettid();
  {
    std::unique_lock lock(all.mutex_);
    ++all.ready_;
    all.changed_.notify_all();
    all.changed_.wait(lock, [&] { return all.gate_ != Gate::kClosed; });
    if (all.gate_ == Gate::kCancelled) return nullptr;
    ++all.begun_;
  }
  worker.work();
  return nullptr;
}

void WorkerThreads::release() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ready_ == threads_.size(); });
  gate_ = Gate::kOpen;
  changed_.notify_all();
}

void WorkerThreads::wait_until_asleep() const {
  auto all_asleep = [&] {
    if (begun_ != threads_.size()) return false;
    for (const auto& worker : threads_)
      if (!is_asleep(worker->id)) return false;
    return true;
  };
  timespec pause{.tv_sec = 0, .tv_nsec = 200'000};
  while (!all_asleep()) ::nanosleep(&pause, nullptr);
}

void WorkerThreads::join() {
  for (const auto& worker : threads_) ::pthread_join(worker->handle, nullptr);
  threads_.clear();
  ready_ = begun_ = 0;
  gate_ = Gate::kClosed;
}

WorkerThreads::~WorkerThreads() {
  if (gate_ == Gate::kClosed) {
    std::scoped_lock lock(mutex_);
    gate_ = Gate::kCancelled;
    changed_.notify_all();
  }
  join();
}

}  // namespace sonde
