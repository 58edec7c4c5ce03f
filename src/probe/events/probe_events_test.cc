#include "probe/events/probe_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ListedProbe, OfAProgram) {
  Result<ListedProbe> probe = parse_listed_probe(
      "r16:probe_app/f__return /opt/a:b/app:0x0000000000001159(0x3020) arg1=$retval +0(%di):u8");
  ASSERT_TRUE(probe.has_value());
  EXPECT_EQ(probe->event, (TracepointName{"probe_app", "f__return"}));
  EXPECT_TRUE(probe->place.at_return);
  EXPECT_EQ(probe->place.object, "/opt/a:b/app");
  EXPECT_EQ(probe->place.offset.value, 0x1159U);
  EXPECT_EQ(probe->place.semaphore.value, 0x3020U);
  EXPECT_THAT(probe->place.arguments, ElementsAre("arg1=$retval", "+0(%di):u8"));
}

TEST(ListedProbe, OfTheKernel) {
  Result<ListedProbe> probe = parse_listed_probe("p:probe/tcp_sendmsg _text+8961856 size=%dx:x64");
  ASSERT_TRUE(probe.has_value());
  EXPECT_TRUE(probe->place.in_kernel());
  EXPECT_EQ(probe->place.symbol, "_text+8961856");
}

TEST(ListedProbe, OtherDynamicEventsAreNone) {
  for (std::string_view line : {"", "e:x/y sched.sched_switch", "p:", "p:x/y", "p:xy /a:0x1"})
    EXPECT_FALSE(parse_listed_probe(line).has_value()) << line;
}

TEST(ListedProbe, ArgumentsHaveTheKernelsNames) {
  EXPECT_EQ(argument_name("size=%dx:x64", 0), "size");
  EXPECT_EQ(argument_name("%dx:x64", 1), "arg2");
}

TEST(ListedProbe, FiltersMatchTheEventOrBothParts) {
  TracepointName event{"probe_app", "f"};
  EXPECT_TRUE(selects(*NameFilter::parse("f"), event));
  EXPECT_TRUE(selects(*NameFilter::parse("probe_app:*"), event));
  EXPECT_FALSE(selects(*NameFilter::parse("probe_app"), event));
}

/// A directory that takes what tracefs would: lines are appended.
class ProbeEventsTest : public ::testing::Test {
 protected:
  ProbeEventsTest() { put("uprobe_events", ""); }
  ~ProbeEventsTest() override { std::filesystem::remove_all(directory_); }
  void put(const std::string& name, std::string_view text) {
    std::ofstream(directory_ + "/" + name) << text;
  }
  std::string definitions() { return *read_file(directory_ + "/uprobe_events"); }

  std::string directory_ = [] {
    std::string path = ::testing::TempDir() + "probe-events-XXXXXX";
    return std::string(::mkdtemp(path.data()));
  }();
};

TEST_F(ProbeEventsTest, AllIsSortedAndOfBothKinds) {
  put("uprobe_events", "p:b/x /app:0x1\np:a/y /app:0x2\n");
  put("kprobe_events", "p:b/a f\n");
  Result<std::vector<TracepointName>> names = ProbeEvents(directory_).names();
  ASSERT_TRUE(names.has_value());
  EXPECT_THAT(*names, ElementsAre(TracepointName{"a", "y"}, TracepointName{"b", "a"},
                                  TracepointName{"b", "x"}));
}

TEST_F(ProbeEventsTest, AllOrNothing) {
  std::vector<NamedProbe> probes = {
      {{"g", "one"}, {.object = "/app", .offset = FileOffset(1)}},
      {{"g", "two"}, {.symbol = "no_kprobes_here"}},
  };
  Result<> added = ProbeEvents(directory_).add(probes, 0);
  ASSERT_FALSE(added.has_value());
  EXPECT_THAT(added.error().message, HasSubstr("CONFIG_KPROBE_EVENTS"));
  EXPECT_EQ(definitions(), "p:g/one /app:0x1\n-:g/one\n");
}

TEST_F(ProbeEventsTest, RemovesWhatMatchesOnce) {
  put("uprobe_events", "p:g/f /app:0x1\np:g/f /app:0x2\np:g/h /app:0x3\n");
  Result<std::vector<TracepointName>> removed =
      ProbeEvents(directory_).remove(*NameFilter::parse("f*"), [](const ProbePlace&) {
        return true;
      });
  ASSERT_TRUE(removed.has_value());
  EXPECT_THAT(*removed, ElementsAre(TracepointName{"g", "f"}));
}

TEST_F(ProbeEventsTest, WithoutTracefsItSaysHowToMountIt) {
  Result<> added = ProbeEvents("").add({}, 0);
  ASSERT_FALSE(added.has_value());
  EXPECT_THAT(added.error().message, HasSubstr("mount -t tracefs"));
}

}  // namespace
}  // namespace sonde
