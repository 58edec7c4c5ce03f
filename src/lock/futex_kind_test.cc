#include "lock/futex_kind.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde {
namespace {

FutexCaller caller_of(const std::vector<std::string_view>& functions,
                      uint32_t operation = kFutexWait) {
  return find_futex_caller(operation, [&](size_t i) -> std::optional<std::string_view> {
    if (i >= functions.size()) return std::nullopt;
    return functions[i];
  });
}

TEST(FutexCaller, IsWhoWantedTheLock) {
  FutexCaller found =
      caller_of({"__lll_lock_wait", "pthread_mutex_lock@@GLIBC_2.2.5", "std::mutex::lock",
                 "std::unique_lock<std::mutex>::lock", "Queue::push", "main"});
  EXPECT_EQ(found.kind, FutexKind::kMutex);
  EXPECT_EQ(found.frame, 4u);
}

TEST(FutexCaller, InnermostNameSaysWhatFor) {
  EXPECT_EQ(caller_of({"__futex_abstimed_wait_common", "pthread_cond_wait", "take"}).kind,
            FutexKind::kCondition);
  // After waking up, it wants the condition's mutex back.
  FutexCaller again =
      caller_of({"__lll_lock_wait", "__pthread_mutex_cond_lock", "pthread_cond_wait", "take"});
  EXPECT_EQ(again.kind, FutexKind::kMutex);
  EXPECT_EQ(again.frame, 3u);
  EXPECT_EQ(caller_of({"__new_sem_wait_slow64.constprop.0", "take"}).kind, FutexKind::kSemaphore);
  EXPECT_EQ(caller_of({"syscall", "std::sys::sync::condvar::futex::Condvar::wait", "take"}).kind,
            FutexKind::kCondition);
}

TEST(FutexCaller, LibrariesWithoutSymbolsStandBeforeWhatTheyExport) {
  FutexCaller found = caller_of({"", "", "pthread_join", "main"});
  EXPECT_EQ(found.kind, FutexKind::kJoin);
  EXPECT_EQ(found.frame, 3u);
}

TEST(FutexCaller, WithoutNamesItIsTheCallItself) {
  FutexCaller found = caller_of({"", "", ""});
  EXPECT_EQ(found.kind, FutexKind::kFutex);
  EXPECT_EQ(found.frame, 0u);
  EXPECT_EQ(caller_of({}).frame, 0u);
  EXPECT_EQ(caller_of({"syscall", "my_own_lock"}).frame, 1u);
}

TEST(FutexCaller, OperationOfAnInheritingMutexSaysIt) {
  EXPECT_EQ(caller_of({"", "pthread_mutex_lock", "take"}, kFutexLockPi).kind, FutexKind::kPiMutex);
}

TEST(FutexCaller, ChainsThatAreAllLockingHaveTheirOutermostFrame) {
  EXPECT_EQ(caller_of({"__lll_lock_wait", "pthread_mutex_lock"}).frame, 1u);
}

TEST(FutexKindFilter, TakesNames) {
  FutexKindFilter filter;
  EXPECT_TRUE(filter.passes(FutexKind::kCondition));
  ASSERT_TRUE(filter.add("mutex,pi-mutex"));
  EXPECT_TRUE(filter.passes(FutexKind::kPiMutex));
  EXPECT_FALSE(filter.passes(FutexKind::kCondition));
  EXPECT_FALSE(filter.add("rwsem"));
}

}  // namespace
}  // namespace sonde
