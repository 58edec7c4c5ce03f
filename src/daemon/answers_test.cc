#include "daemon/answers.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

class Answers : public testing::Test {
 protected:
  std::string list(const DaemonRequest& request) const {
    return list_answer(daemon_, sessions_, request);
  }

  ListedDaemon daemon_{.pid = 10, .paths = {"/base"}, .minutes_up = 3, .tool = "sonde"};
  std::vector<ListedSession> sessions_ = {{.pid = 11,
                                           .name = "clock",
                                           .run = "-e cpu-clock -a",
                                           .paths = SessionPaths(daemon_.paths, "clock"),
                                           .minutes_up = 2}};
};

TEST_F(Answers, ListOneLineEach) {
  EXPECT_EQ(list({}),
            "[10:daemon] base: /base\n"
            "[11:clock] sonde record -e cpu-clock -a\n");
}

TEST_F(Answers, VerboseListsPathsAndTimes) {
  EXPECT_EQ(list({.verbose = true}),
            "[10:daemon] base: /base\n"
            "  output:  /base/output\n"
            "  lock:    /base/lock\n"
            "  up:      3 minutes\n"
            "[11:clock] sonde record -e cpu-clock -a\n"
            "  base:    /base/session-clock\n"
            "  output:  /base/session-clock/output\n"
            "  control: /base/session-clock/control\n"
            "  ack:     /base/session-clock/ack\n"
            "  up:      2 minutes\n");
}

TEST_F(Answers, SeparatedFieldsAreTheSameWithVerbose) {
  std::string fields =
      "10,daemon,/base,/base/output,/base/lock,3\n"
      "11,clock,-e cpu-clock -a,/base/session-clock,/base/session-clock/output,"
      "/base/session-clock/control,/base/session-clock/ack,2\n";
  EXPECT_EQ(list({.separator = ','}), fields);
  EXPECT_EQ(list({.verbose = true, .separator = ','}), fields);
}

}  // namespace
}  // namespace sonde
