#include "benchmarks/numa/convergence.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(Convergence, ProcessesOnOneNodeEachHaveConverged) {
  TaskPlace places[] = {{10, 0}, {12, 0}, {9, 1}, {9, 1}};
  Convergence now = Convergence::of(places, 2, 2);
  EXPECT_TRUE(now.has_converged());
  EXPECT_EQ(now.text(), "  2/1   2/1  [ 0/2 ] l:9-12 (  3) [25.0%]");
}

TEST(Convergence, AProcessOnTwoNodesHasNot) {
  TaskPlace places[] = {{10, 0}, {10, 1}, {10, 1}, {10, 1}};
  Convergence now = Convergence::of(places, 2, 2);
  EXPECT_FALSE(now.has_converged());
  EXPECT_EQ(now.text(), "  1/1   3/2  [ 1/3 ] {1-2} l:10-10 (  0) [ 0.0%]");
}

TEST(Convergence, TasksThatHaveNotBegunHaveNotConverged) {
  TaskPlace places[] = {{10, 0}, {0, -1}};
  EXPECT_FALSE(Convergence::of(places, 2, 1).has_converged());
  EXPECT_FALSE(Convergence::of(places, 1, 1).has_converged());
  EXPECT_FALSE(Convergence::of({}, 1, 1).has_converged());
  TaskPlace elsewhere[] = {{10, 7}};
  EXPECT_FALSE(Convergence::of(elsewhere, 1, 1).has_converged());
}

TEST(Convergence, EveryCpuHasANode) {
  EXPECT_GE(node_of_cpu(0), 0);
  EXPECT_EQ(node_of_cpu(1 << 30), 0);
}

}  // namespace
}  // namespace sonde
