#include "base/process/end_guard.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace sonde {
namespace {

/// Receives from guards, whose work is to write a byte before the pipe closes.
struct Told {
  int ends[2] = {-1, -1};
  Told() {
    if (::pipe(ends) != 0) ::abort();
  }
  ~Told() {
    ::close(ends[0]);
    if (ends[1] >= 0) ::close(ends[1]);
  }
  /// Guards close what they inherit, so they reopen the pipe by this name.
  [[nodiscard]] std::string name() const {
    return fmt::format("/proc/{}/fd/{}", ::getpid(), ends[1]);
  }
  bool arrives(int within_ms) const {
    pollfd ready{.fd = ends[0], .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, within_ms) == 1;
  }
};

std::function<void()> say_to(const std::string& name) {
  return [name] {
    FILE* file = ::fopen(name.c_str(), "w");
    if (file == nullptr) return;
    ::fputc('x', file);
    ::fclose(file);
  };
}

constexpr int kLong = 60'000;

TEST(EndGuard, WorksWhenItsProcessIsKilled) {
  Told told;
  std::string name = told.name();
  pid_t child = ::fork();
  if (child == 0) {
    auto guard = EndGuard::start("sonde-test", say_to(name));
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(told.arrives(kLong));
}

TEST(EndGuard, DoesNothingOnceItIsDismissed) {
  Told of_dismissed, of_other;
  {
    auto dismissed = EndGuard::start("sonde-test", say_to(of_dismissed.name()));
    auto other = EndGuard::start("sonde-test", say_to(of_other.name()));
    ASSERT_TRUE(dismissed && other);
    EXPECT_TRUE(dismissed->started());
    dismissed->dismiss();
    EXPECT_FALSE(dismissed->started());
  }
  EXPECT_TRUE(of_other.arrives(kLong));
  EXPECT_FALSE(of_dismissed.arrives(0));
}

}  // namespace
}  // namespace sonde
