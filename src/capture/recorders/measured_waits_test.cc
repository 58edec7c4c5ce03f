#include "capture/recorders/measured_waits.h"

#include <gtest/gtest.h>

#include "base/sys.h"
#include "capture/recorders/futex_event.h"
#include "capture/recorders/off_cpu_event.h"

namespace sonde {
namespace {

std::string said(const LostWaits& lost, bool quiet = false) {
  StringSink out, err;
  LossLedger losses;
  Env env{.out = out, .err = err, .sys = Sys::host(), .losses = losses};
  RecordOptions options;
  options.quiet = quiet;
  report_lost(lost, "waits off the CPU", options, env);
  return err.text();
}

TEST(MeasuredWaits, EventsAreKnownAgainByTheirNames) {
  EXPECT_TRUE(is_off_cpu_event(off_cpu_event()));
  EXPECT_TRUE(is_waker_event(waker_event()));
  EXPECT_TRUE(is_futex_event(futex_event()));
  EXPECT_FALSE(is_futex_event(off_cpu_event()));
}

TEST(MeasuredWaits, NothingIsSaidWhereNothingIsMissing) {
  EXPECT_EQ(said({}), "");
}

TEST(MeasuredWaits, WhatIsMissingIsSaidInItsUnits) {
  EXPECT_EQ(said({.waits = 2, .ns = 1'500'000, .stacks = 3}),
            "2 waits off the CPU, 1.500 ms, are not in the recording: they had no room\n"
            "3 call chains of waits off the CPU are not in the recording: they had no room\n");
  EXPECT_EQ(said({.waits = 2}, true), "");
}

}  // namespace
}  // namespace sonde
