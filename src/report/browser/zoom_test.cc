#include "report/browser/zoom.h"

#include <gtest/gtest.h>

namespace sonde::report {
namespace {

using Kind = ZoomStep::Kind;

TEST(Zoom, StepsAreTheOptionsOfReport) {
  ReportOptions options;
  options.dsos = {"a", "b"};
  ASSERT_TRUE(apply_zoom({Kind::kDso, "libc.so.6"}, options));
  EXPECT_EQ(options.dsos, std::vector<std::string>{"libc.so.6"});
  ASSERT_TRUE(apply_zoom({Kind::kTid, "7,9-10"}, options));
  EXPECT_EQ(options.tids, (std::vector<uint32_t>{7, 9, 10}));
  ASSERT_TRUE(apply_zoom({Kind::kCpu, "1"}, options));
  EXPECT_EQ(options.shown_cpus, std::vector<uint32_t>{1});
  ASSERT_TRUE(apply_zoom({Kind::kTime, "10%-20%"}, options));
  EXPECT_EQ(options.time, "10%-20%");
  EXPECT_EQ(zoom_text({Kind::kSymbol, "main"}), "symbol main");
}

TEST(Zoom, ALaterStepOfAKindTakesThePlaceOfTheFormer) {
  ReportOptions options;
  ASSERT_TRUE(apply_zoom({Kind::kCpu, "0-3"}, options));
  ASSERT_TRUE(apply_zoom({Kind::kCpu, "2"}, options));
  EXPECT_EQ(options.shown_cpus, std::vector<uint32_t>{2});
}

TEST(Zoom, WhatIsNoNumberIsRefused) {
  ReportOptions options;
  EXPECT_FALSE(apply_zoom({Kind::kCpu, "all"}, options));
  EXPECT_FALSE(apply_zoom({Kind::kSocket, "x"}, options));
}

}  // namespace
}  // namespace sonde::report
