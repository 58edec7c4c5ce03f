#include "capture/synthesis/jit_maps.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "capture/synthesis/jvm_attach.h"

namespace sonde {
namespace {

TEST(JitMaps, OptionsAreAddedToThoseThatWereThere) {
  std::string alone = java_tool_options("", false);
  EXPECT_EQ(alone.find("-XX:+IgnoreUnrecognizedVMOptions"), 0u) << alone;
  EXPECT_NE(alone.find("-XX:+DumpPerfMapAtExit"), std::string::npos);
  EXPECT_EQ(alone.find("FramePointer"), std::string::npos);
  std::string more = java_tool_options("-Xmx1g", true);
  EXPECT_EQ(more.find("-Xmx1g "), 0u);
  EXPECT_NE(more.find("-XX:+PreserveFramePointer"), std::string::npos);
}

TEST(JitMaps, WhoIsNoVirtualMachineIsLeftAlone) {
  EXPECT_FALSE(runs_jvm(::getpid()));
  Target target;
  target.kind = Target::Kind::kTasks;
  target.threads = {{::getpid(), ""}};
  EXPECT_TRUE(request_jit_maps(target).empty());
  // This process does not catch SIGQUIT, so it is not sent.
  auto answer = jvm_command(::getpid(), "help");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(pid_inside(::getpid()).value_or(0) > 0, true);
}

}  // namespace
}  // namespace sonde
