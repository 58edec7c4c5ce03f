#include "event/print_fmt/tracefs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "event/parser/event_test_machine.h"

namespace sonde {
namespace {

TEST(Tracefs, ListsAndReads) {
  TestMachine machine;
  machine.add_tracepoints();
  Tracefs tracefs = Tracefs::at(machine.tracing_directory());
  EXPECT_THAT(*tracefs.systems(), testing::UnorderedElementsAre("sched", "syscalls"));
  EXPECT_EQ(tracefs.events("sched")->size(), 3u);
  EXPECT_EQ(tracefs.id({"sched", "sched_switch"}), 372u);
  EXPECT_EQ(tracefs.format({"sched", "sched_switch"}), "name: sched_switch\nID: 372\n");
  EXPECT_EQ(tracefs.match("sched", "sched_[sw]*")->size(), 2u);
  EXPECT_EQ(tracefs.match("no*", "*")->size(), 0u);
  EXPECT_EQ(tracefs.events("nosuch").error().code, ErrorCode::kBadEvent);
  EXPECT_FALSE(tracefs.id({"..", "events"}));
  EXPECT_FALSE(tracefs.id({"sched/sched_switch", "."}));
  EXPECT_FALSE(tracefs.file("printk_formats"));
}

TEST(Tracefs, FindsItBelowTheDebugfsThatIsGiven) {
  TestMachine machine;
  machine.add_tracepoints();
  std::string parent = machine.tracing_directory();
  parent.resize(parent.size() - std::string_view("/tracing").size());
  EXPECT_EQ(Tracefs(parent).path(), machine.tracing_directory());
  EXPECT_EQ(Tracefs(machine.tracing_directory()).path(), machine.tracing_directory());
}

TEST(Tracefs, ExplainsWhatPerfExplains) {
  EXPECT_EQ(Tracefs::at("/nosuch/tracing").explain(EACCES, "sched", "sched_switch"),
            "Error:\tNo permissions to read /nosuch/tracing/events/sched/sched_switch\n"
            "Hint:\tTry 'sudo mount -o remount,mode=755 /nosuch/tracing/'");
  EXPECT_EQ(Tracefs::at("/t").explain(ENOENT, "a", "b"),
            "Error:\tFile /t/events/a/b not found.\n"
            "Hint:\tPerhaps this kernel misses some CONFIG_ setting to enable this feature?.");
  EXPECT_THAT(Tracefs::at("/t").explain(EIO, "a", "b"), testing::HasSubstr("/t/events/a/b"));
  // The directories are accessible, the files are not: mode=755 has been tried already.
  TestMachine machine;
  machine.add_tracepoints();
  EXPECT_THAT(Tracefs::at(machine.tracing_directory()).explain(EACCES, "a", "b"),
              testing::HasSubstr("remount,mode=755,gid="));
}

}  // namespace
}  // namespace sonde
