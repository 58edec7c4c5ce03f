#include "bpf/program_compiler.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(KernelVersionCode, IsThreeNumbersOfTheRelease) {
  EXPECT_EQ(kernel_version_code("6.1.44-custom"), 0x6012cu);
  EXPECT_EQ(kernel_version_code("6.18.0"), 0x61200u);
  EXPECT_EQ(kernel_version_code("5.10-rc1"), 0x50a00u);
  EXPECT_EQ(kernel_version_code("4.14.336"), 0x40effu);  // more than eight bits can hold
  EXPECT_EQ(kernel_version_code(""), 0u);
}

}  // namespace
}  // namespace sonde
