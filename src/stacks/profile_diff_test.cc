#include "stacks/profile_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stacks/folded_reader.h"
#include "stacks/profile_lines.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;

StackProfile folded(std::string_view text) {
  LossLedger losses;
  auto profile = read_folded(text, "test", losses);
  EXPECT_TRUE(profile) << profile.error().message;
  return std::move(*profile);
}

/// "path before after" of each stack that has a weight.
std::vector<std::string> both_of(const StackProfile& profile) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < profile.nodes.size(); ++i) {
    double before = profile.columns[0].self[i];
    double after = profile.columns[1].self[i];
    if (before == 0 && after == 0) continue;
    lines.push_back(fmt::format("{} {} {}", path_of(profile, StackNodeId(i)), before, after));
  }
  return lines;
}

TEST(ProfileDiff, HasTheStacksOfBoth) {
  StackProfile diff =
      diff_profiles(folded("main;a 3\nmain;b 2\n"), folded("main;a 5\nmain;c 1\n"), {});
  EXPECT_THAT(both_of(diff), ElementsAre("main;a 3 5", "main;b 2 0", "main;c 0 1"));
  EXPECT_EQ(diff.columns[0].name, "before");
  EXPECT_EQ(diff.columns[1].name, "after");
}

TEST(ProfileDiff, NormalizesTheFirstToTheSecond) {
  StackProfile before = folded("a 10\nb 20\n");
  StackProfile after = folded("a 5\nb 6\n");
  StackProfile exact = diff_profiles(before, after, {.normalize = true});
  EXPECT_DOUBLE_EQ(total_of(exact.columns[0]), 11);
  StackProfile whole = diff_profiles(before, after, {.normalize = true, .whole_numbers = true});
  EXPECT_THAT(both_of(whole), ElementsAre("a 3 5", "b 7 6"));
}

TEST(ProfileDiff, NothingToNormalizeTo) {
  StackProfile diff = diff_profiles(folded("a 10\n"), folded("a 0\n"), {.normalize = true});
  EXPECT_THAT(both_of(diff), ElementsAre("a 10 0"));
}

TEST(ProfileDiff, StripsAddresses) {
  StackProfile before = folded("main;at 0x12aF 1\nmain;at 0x34 2\n");
  StackProfile after = folded("main;at 0x99;x 4\n");
  EXPECT_THAT(both_of(diff_profiles(before, after, {.strip_addresses = true})),
              ElementsAre("main;at 0x... 3 0", "main;at 0x...;x 0 4"));
  EXPECT_EQ(without_addresses("0xfoo 0x 0xg0x1"), "0x...oo 0x 0xg0x...");
}

TEST(ProfileDiff, ComparesSeveralColumns) {
  StackProfile before = folded("a 10 7\nb 20 1\n");
  StackProfile after = folded("a 5 3\nc 6 9\n");
  StackProfile diff = diff_profiles(before, after, {.columns = {{0, 1}, {1, 0}}});
  ASSERT_EQ(diff.columns.size(), 4u);
  EXPECT_THAT(lines_of(diff, 0), ElementsAre("a 10", "b 20"));
  EXPECT_THAT(lines_of(diff, 1), ElementsAre("a 3", "c 9"));
  EXPECT_THAT(lines_of(diff, 2), ElementsAre("a 7", "b 1"));
  EXPECT_THAT(lines_of(diff, 3), ElementsAre("a 5", "c 6"));
}

TEST(ProfileDiff, FramesOfOneNameAreOne) {
  StackProfile before = folded("main;read_[k] 1\n");
  StackProfile after = folded("main;read_[k] 1\nmain;main 1\n");
  before.frames[1].object = before.strings->intern("libc-1.so");
  after.frames[1].object = after.strings->intern("libc-2.so");
  StackProfile diff = diff_profiles(before, after, {});
  EXPECT_EQ(diff.frames.size(), 2u);
  EXPECT_THAT(both_of(diff), ElementsAre("main;main 0 1", "main;read_[k] 1 1"));
}

/// The difference with what the two profiles' names tell.
StackProfile matched(const StackProfile& before, const StackProfile& after) {
  Counterparts counterparts = counterparts_of(before, after, {{}});
  return diff_profiles(before, after, {.counterparts = &counterparts});
}

TEST(ProfileDiff, TwoVersionsOfOneProgramAreOne) {
  StackProfile before = folded("old;main;a 3\nold;main;[old] 2\nold;main;old 1\n");
  StackProfile after = folded("new;main;a 5\nnew;main;[new] 2\nnew;main;old 1\n");
  EXPECT_THAT(
      both_of(matched(before, after)),
      ElementsAre("old → new;main;[new] 2 2", "old → new;main;a 3 5", "old → new;main;old 1 1"));
  Counterparts counterparts = counterparts_of(before, after, {{}});
  EXPECT_EQ(counterparts.sentence(), "compares old with new as one program");
  StackProfile ascii =
      diff_profiles(before, after, {.counterparts = &counterparts, .arrow = " -> "});
  EXPECT_EQ(path_of(ascii, StackNodeId(size_t{0})), "old -> new");
  // Unless they are to be compared by name.
  EXPECT_THAT(both_of(diff_profiles(folded("old;a 3\n"), folded("new;a 3\n"), {})),
              ElementsAre("new;a 0 3", "old;a 3 0"));
}

TEST(ProfileDiff, WaitsOfOneProgramAreToldApartByTheirReason) {
  EXPECT_THAT(both_of(matched(folded("old [lock];a 3\nold [sleep];a 2\nold;b 1\n"),
                              folded("new [lock];a 4\nnew [sleep];a 2\nnew;b 1\n"))),
              ElementsAre("old → new;b 1 1", "old → new [lock];a 3 4", "old → new [sleep];a 2 2"));
}

TEST(ProfileDiff, RootsThatAreFunctionsAreNoPrograms) {
  // They have weight of their own, or the profile says what is a task.
  EXPECT_THAT(both_of(matched(folded("a 3\na;b 1\n"), folded("c 3\nc;b 1\n"))),
              ElementsAre("a 3 0", "a;b 1 0", "c 0 3", "c;b 0 1"));
  StackProfile before = folded("app;a 3\nstart;b 3\n"), after = folded("app;a 3\nbegin;b 3\n");
  for (StackProfile* profile : {&before, &after})
    for (StackFrame& frame : profile->frames)
      if (profile->text(frame.name) == "app") frame.kind = FrameKind::kTask;
  EXPECT_THAT(both_of(matched(before, after)),
              ElementsAre("app;a 3 3", "begin;b 0 3", "start;b 3 0"));
}

TEST(ProfileDiff, VersionsOfALibraryAreOneObject) {
  EXPECT_THAT(both_of(matched(folded("app;[libfoo.so.1.2] 3\napp;[libc.so.6]_[k] 1\n"),
                              folded("app;[libfoo.so.1.3] 3\napp;[libc-2.31.so]_[k] 1\n"))),
              ElementsAre("app;[libc-2.31.so]_[k] 1 1", "app;[libfoo.so.1.3] 3 3"));
  // Addresses differ between builds, as far as is known.
  EXPECT_THAT(both_of(matched(folded("app;[libfoo.so.1 <1200>] 3\napp;libfoo.so.1+0x1200 2\n"),
                              folded("app;[libfoo.so.2 <1200>] 3\napp;libfoo.so.2+0x1200 2\n"))),
              ElementsAre("app;[libfoo.so.1 <1200>] 3 0", "app;[libfoo.so.2 <1200>] 0 3",
                          "app;libfoo.so.1+0x1200 2 0", "app;libfoo.so.2+0x1200 0 2"));
}

TEST(ProfileDiff, TheRecordingSaysWhatIsTheExecutableAndWhichBuild) {
  auto profile = [](std::string_view name, std::string_view build_id) {
    StackProfile made = folded(fmt::format("server;{0}+0x1200 1\nserver;[{0}] 2\n", name));
    StringId path = made.strings->intern(fmt::format("/build/{}", name));
    for (StackFrame& frame : made.frames)
      if (made.text(frame.name) != "server") frame.object = path;
    made.objects = {{.path = path, .build_id = std::string(build_id), .run_by = 3}};
    return made;
  };
  EXPECT_THAT(both_of(matched(profile("old", "ab12"), profile("new", "ab12"))),
              ElementsAre("server;[new] 2 2", "server;new+0x1200 1 1"));
  EXPECT_THAT(both_of(matched(profile("old", "ab12"), profile("new", "cd34"))),
              ElementsAre("server;[new] 2 2", "server;new+0x1200 0 1", "server;old+0x1200 1 0"));
}

TEST(ProfileDiff, FunctionsNamedByAddressAreTheSameInOneBuildOnly) {
  StackProfile before = folded("main;prog+0x1200 1\n");
  StackProfile after = folded("main;prog+0x1200 2\n");
  for (StackProfile* profile : {&before, &after}) {
    StringId path = profile->strings->intern("/usr/bin/prog");
    profile->frames[1].object = path;
    profile->objects = {{.path = path, .build_id = "ab12"}};
  }
  EXPECT_THAT(both_of(diff_profiles(before, after, {})), ElementsAre("main;prog+0x1200 1 2"));
  after.objects[0].build_id = "cd34";
  EXPECT_THAT(both_of(diff_profiles(before, after, {})),
              ElementsAre("main;prog+0x1200 0 2", "main;prog+0x1200 [ab12] 1 0"));
  after.objects[0].build_id.clear();  // not known: as good as the same
  before.objects.clear();
  EXPECT_THAT(both_of(diff_profiles(before, after, {})), ElementsAre("main;prog+0x1200 1 2"));
}

}  // namespace
}  // namespace sonde
