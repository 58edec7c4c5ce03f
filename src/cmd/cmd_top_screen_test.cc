#include "cmd/cmd_top_screen.h"

#include <gtest/gtest.h>

#include "cmd/cmd_top_figures.h"

namespace sonde::top {
namespace {

TEST(TopScreen, LinesAreCutByWhatShows) {
  EXPECT_EQ(cut_line("abcdef", 3), "abc");
  EXPECT_EQ(cut_line("abc", 80), "abc");
  // A colour takes no space, and is reset after the cut.
  EXPECT_EQ(cut_line("\033[31mabc\033[mdef", 2), "\033[31mab\033[m");
  EXPECT_EQ(cut_line("\u00e9t\u00e9s", 3), "\u00e9t\u00e9");
  EXPECT_EQ(cut_line("a\033[31", 5), "a");
}

TEST(TopScreen, HeadingHasRatesAndLosses) {
  TopFigures figures{.seconds = 2,
                     .samples = 8000,
                     .kernel = 2000,
                     .lost = 3,
                     .lost_before = 4,
                     .events = "[4000Hz cpu-clock]",
                     .target = " (all, 2 CPUs)"};
  EXPECT_EQ(heading(figures),
            "   PerfTop:    4000 irqs/sec  kernel:25.0%  exact:  0.0% lost: 3/7 drop: 0/0 [4000Hz "
            "cpu-clock],  (all, 2 CPUs)");
  EXPECT_EQ(heading({}).substr(0, 30), "   PerfTop:       0 irqs/sec  ");
}

}  // namespace
}  // namespace sonde::top
