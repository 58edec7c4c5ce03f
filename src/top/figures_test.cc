#include "top/figures.h"

#include <gtest/gtest.h>

namespace sonde::top {
namespace {

TEST(TopFigures, HeadingHasRatesAndLosses) {
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
