#include "base/helper_thread.h"

#include <sched.h>

#include <memory>
#include <utility>

namespace sonde {

struct HelperThread::Start {
  std::function<void()>* work;
  cpu_set_t allowed;  // the creator's
  bool is_elsewhere;

  static void* run(void* argument) {
    std::unique_ptr<Start> start(static_cast<Start*>(argument));
    if (start->is_elsewhere) ::sched_setaffinity(0, sizeof start->allowed, &start->allowed);
    (*start->work)();
    return nullptr;
  }
};

HelperThread::HelperThread(std::function<void()> work) : work_(std::move(work)) {
  auto start = std::make_unique<Start>(Start{&work_, {}, false});
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  // Skipped on machines with more CPUs than the set has bits.
  int here = ::sched_getcpu();
  if (here >= 0 && here < CPU_SETSIZE &&
      ::sched_getaffinity(0, sizeof start->allowed, &start->allowed) == 0) {
    cpu_set_t others = start->allowed;
    CPU_CLR(static_cast<size_t>(here), &others);
    start->is_elsewhere = CPU_COUNT(&others) > 0 &&
                          ::pthread_attr_setaffinity_np(&attributes, sizeof others, &others) == 0;
  }
  pthread_t thread;
  bool started = ::pthread_create(&thread, &attributes, Start::run, start.get()) == 0;
  // The other CPUs may have gone offline meanwhile.
  if (!started && std::exchange(start->is_elsewhere, false))
    started = ::pthread_create(&thread, nullptr, Start::run, start.get()) == 0;
  ::pthread_attr_destroy(&attributes);
  if (!started) return;
  start.release();
  thread_ = thread;
}

HelperThread::~HelperThread() {
  if (thread_) ::pthread_join(*thread_, nullptr);
}

}  // namespace sonde
