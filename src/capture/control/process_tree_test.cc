#include "capture/control/process_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "capture/control/workload.h"

namespace sonde {
namespace {

/// Each of the processes holds the writing end of a pipe; when all are gone, it ends.
TEST(KillWithDescendants, LeavesNoneOfThem) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Fd reading(ends[0]), writing(ends[1]);
  ASSERT_EQ(::fcntl(reading.get(), F_SETFD, FD_CLOEXEC), 0);
  std::string script = "trap '' TERM INT; sh -c 'sleep 1000 & echo x >&" +
                       std::to_string(writing.get()) + "; wait' & sleep 1000 & wait";
  Result<Workload> workload = Workload::fork({"sh", "-c", script}, false);
  ASSERT_TRUE(workload);
  workload->start();
  ASSERT_FALSE(workload->exec_error());
  writing.reset();
  char byte[2];
  ASSERT_EQ(::read(reading.get(), byte, 2), 2);  // the grandchild has a child

  kill_with_descendants(workload->pid());
  EXPECT_EQ(::read(reading.get(), byte, 1), 0);
  EXPECT_EQ(shell_status(*workload->reap(true)), 128 + SIGKILL);
}

TEST(KillWithDescendants, LeavesStrangersAlone) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Fd reading(ends[0]), writing(ends[1]);
  pid_t stranger = 0;
  // A child's child, which is not ours.
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    pid_t own = ::fork();
    if (own == 0) {
      ::pause();
      ::_exit(0);
    }
    [[maybe_unused]] ssize_t told = ::write(writing.get(), &own, sizeof own);
    ::pause();
    ::_exit(0);
  }
  ASSERT_EQ(::read(reading.get(), &stranger, sizeof stranger), ssize_t{sizeof stranger});
  kill_with_descendants(stranger);
  EXPECT_EQ(::kill(stranger, 0), 0);
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG), 0);
  EXPECT_EQ(info.si_pid, 0);
  kill_with_descendants(child);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

}  // namespace
}  // namespace sonde
