#include "stacks/folded_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stacks/profile_lines.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FoldedReader, ReadsStacks) {
  LossLedger losses;
  StackProfile profile =
      read_folded("# note\nmain;read_[k] 2\r\nmain 1\n\nno count\nmain;read_[k] 0.5\n", "f", losses)
          .value();
  EXPECT_THAT(lines_of(profile), ElementsAre("main 1", "main;read_[k] 2.5"));
  EXPECT_EQ(profile.columns[0].name, "samples");
  EXPECT_EQ(profile.frame_of(StackNodeId(1)).kind, FrameKind::kKernel);
  ASSERT_EQ(losses.count(LossKind::k_bad_folded_line), 1u);
  EXPECT_EQ(losses.entries()[0].example, "f:5");
}

TEST(FoldedReader, ReadsComparisons) {
  LossLedger losses;
  StackProfile profile = read_folded("a;b 1 2\na;c 0 3\n", "f", losses).value();
  ASSERT_EQ(profile.columns.size(), 2u);
  EXPECT_THAT(lines_of(profile, 0), ElementsAre("a;b 1"));
  EXPECT_THAT(lines_of(profile, 1), ElementsAre("a;b 2", "a;c 3"));
}

TEST(FoldedReader, NamesMayEndInNumbers) {
  LossLedger losses;
  StackProfile profile = read_folded("a;worker 12 3\na;c 4\n", "f", losses).value();
  ASSERT_EQ(profile.columns.size(), 1u);
  EXPECT_THAT(lines_of(profile), ElementsAre("a;c 4", "a;worker 12 3"));
}

TEST(FoldedReader, NamesMayEndInBlanks) {
  LossLedger losses;
  StackProfile profile = read_folded("a;f<float  5\na;f<float ;g 3\n", "f", losses).value();
  EXPECT_THAT(lines_of(profile), ElementsAre("a;f<float  5", "a;f<float ;g 3"));
}

TEST(FoldedReader, RefusesOtherTexts) {
  LossLedger losses;
  for (std::string_view text : {"", "hello\nworld\n", "# only notes\n"}) {
    auto profile = read_folded(text, "f", losses);
    ASSERT_FALSE(profile) << text;
    EXPECT_THAT(profile.error().message, HasSubstr("f: no folded stacks"));
  }
}

TEST(FoldedReader, Marks) {
  EXPECT_EQ(without_mark("read_[k]"), "read");
  EXPECT_EQ(without_mark("read_[x]"), "read_[x]");
  EXPECT_EQ(without_mark("[k]"), "[k]");
  EXPECT_EQ(kind_of_marked("f_[j]"), FrameKind::kJit);
  EXPECT_EQ(kind_of_marked("f_[i]"), FrameKind::kInlined);
  EXPECT_EQ(kind_of_marked("f_[w]"), FrameKind::kWaker);
  EXPECT_EQ(kind_of_marked("f"), FrameKind::kUser);
}

}  // namespace
}  // namespace sonde
