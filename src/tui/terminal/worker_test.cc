#include "tui/terminal/worker.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <memory>
#include <semaphore>

namespace sonde::tui {
namespace {

/// Waits until the wake has rung.
void wait_for(const Wake& wake) {
  pollfd rung{wake.fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&rung, 1, 60'000), 1);
  wake.clear();
}

bool has_rung(const Wake& wake) {
  pollfd rung{wake.fd(), POLLIN, 0};
  return ::poll(&rung, 1, 0) == 1;
}

TEST(Worker, HandsOverWhatWasMade) {
  Wake wake;
  Worker<std::unique_ptr<int>> worker(wake);
  EXPECT_FALSE(worker.busy());
  worker.start([] { return std::make_unique<int>(42); });
  wait_for(wake);
  EXPECT_FALSE(worker.busy());
  auto made = worker.take();
  ASSERT_TRUE(made);
  EXPECT_EQ(**made, 42);
  EXPECT_FALSE(worker.take());
}

TEST(Worker, TheNewestWins) {
  Wake wake;
  std::binary_semaphore begun(0), go_on(0);
  Worker<int> worker(wake);
  worker.start([&] {
    begun.release();
    go_on.acquire();
    return 1;
  });
  begun.acquire();
  std::atomic<bool> was_made = false;
  worker.start([&] {
    was_made = true;
    return 2;
  });
  worker.start([] { return 3; });
  EXPECT_TRUE(worker.busy());
  go_on.release();
  wait_for(wake);
  EXPECT_EQ(worker.take(), 3);
  EXPECT_FALSE(was_made);  // never begun
}

TEST(Worker, WhatIsCancelledNeverComes) {
  Wake wake;
  std::binary_semaphore begun(0), go_on(0);
  {
    Worker<int> worker(wake);
    worker.start([&] {
      begun.release();
      go_on.acquire();
      return 1;
    });
    begun.acquire();
    worker.cancel();
    EXPECT_FALSE(worker.busy());
    go_on.release();
    worker.start([] { return 2; });
    wait_for(wake);
    EXPECT_EQ(worker.take(), 2);
  }
  EXPECT_FALSE(has_rung(wake));
}

TEST(Worker, EndsWhileSomethingIsBeingMade) {
  Wake wake;
  auto kept = std::make_shared<int>(0);
  std::binary_semaphore begun(0);
  {
    Worker<int> worker(wake);
    worker.start([kept, &begun] {
      begun.release();
      return ++*kept;
    });
    begun.acquire();
  }
  EXPECT_EQ(*kept, 1);
  EXPECT_EQ(kept.use_count(), 1);
}

}  // namespace
}  // namespace sonde::tui
