#include "itrace/options.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

ItraceOptions parsed(std::string_view text, ItraceDefaults defaults = ItraceDefaults::kReport) {
  auto options = parse_itrace(text, defaults);
  EXPECT_TRUE(options) << text;
  return options.value_or(ItraceOptions{});
}

TEST(ItraceOptions, DefaultsAreOfTheCommand) {
  ItraceOptions report = parsed("");
  EXPECT_TRUE(report.instructions && report.branches && report.transactions && report.errors);
  EXPECT_EQ(report.period, 100'000u);
  ItraceOptions profile = parsed("", ItraceDefaults::kProfile);
  EXPECT_TRUE(profile.instructions && profile.chains);
  EXPECT_FALSE(profile.branches || profile.ptwrites || profile.power);
  ItraceOptions script = parsed("", ItraceDefaults::kScript);
  EXPECT_TRUE(script.calls && script.errors && script.transactions && script.ptwrites &&
              script.power);
  EXPECT_FALSE(script.instructions || script.branches);
}

TEST(ItraceOptions, PeriodsHaveUnits) {
  EXPECT_EQ(parsed("i").period, 100'000u);
  EXPECT_EQ(parsed("i10us").period, 10'000u);
  EXPECT_EQ(parsed("i2ms").period, 2'000'000u);
  EXPECT_EQ(parsed("i0ns").period, 0u);
  EXPECT_EQ(parsed("i7").period, 7u);
  EXPECT_EQ(parsed("i1000i").unit, PeriodUnit::kInstructions);
  EXPECT_EQ(parsed("i 50 t").unit, PeriodUnit::kTicks);
  ItraceOptions many = parsed("i100us g8,l32,bxe-o+l s1000");
  EXPECT_TRUE(many.instructions && many.chains && many.branch_stacks && many.branches);
  EXPECT_EQ(many.chain_size, 8u);
  EXPECT_EQ(many.branch_stack_size, 32u);
  EXPECT_EQ(many.skipped, 1000u);
  EXPECT_TRUE(many.hides_overflows);
  EXPECT_FALSE(many.hides_lost_data);
  EXPECT_EQ(parsed("qq").quick, 2u);
}

TEST(ItraceOptions, WhatCannotBeMadeIsNamed) {
  EXPECT_STREQ(parsed("bZ").not_of_spe(), "Z (samples without times)");
  EXPECT_STREQ(parsed("bM").only_of_spe(), "f, m, t, a and M (Arm's SPE)");
  EXPECT_STREQ(parsed("bI").only_of_intel_pt(), "I (event trace)");
  EXPECT_STREQ(parsed("bo").only_of_intel_pt(), "o (events recorded by aux-output)");
  EXPECT_EQ(parsed("").only_of_intel_pt(), nullptr);
  EXPECT_STREQ(parsed("bG").only_of_intel_pt(), "G (call chains for other events)");
  EXPECT_STREQ(parsed("bd").only_of_intel_pt(), "d (a debug log)");
  EXPECT_STREQ(parsed("bq").only_of_intel_pt(), "q (decoding without the program's code)");
  EXPECT_EQ(parsed("ibgl").only_of_intel_pt(), nullptr);
}

TEST(ItraceOptions, LogHasFlags) {
  ItraceOptions plain = parsed("bd");
  EXPECT_TRUE(plain.debug_log);
  EXPECT_FALSE(plain.logs_to_output || plain.logs_errors_only);
  EXPECT_EQ(plain.logged_records, LoggedRecords::kOfTimes);
  ItraceOptions errors = parsed("d+e+o-ab");
  EXPECT_TRUE(errors.logs_to_output && errors.logs_errors_only && errors.branches);
  EXPECT_EQ(errors.logged_records, LoggedRecords::kNone);
  EXPECT_EQ(parsed("d+ae").logged_records, LoggedRecords::kAll);
  EXPECT_FALSE(parsed("d+ae").logs_errors_only);
  EXPECT_FALSE(parse_itrace("d+x", ItraceDefaults::kReport));
}

// perf 6.1 takes and refuses the same, but for unknown flags of d.
TEST(ItraceOptions, RefusedWords) {
  for (const char* bad : {"y", "i0n", "i5x", "i10m", "g0", "g1025", "l2000", "sx", "x8", "e+",
                          "i99999999999999999999ns", "i18446744073709551615ms"})
    EXPECT_FALSE(parse_itrace(bad, ItraceDefaults::kReport)) << bad;
  for (const char* good :
       {"i0", "e+o", "e+x", "d+a", "b,e", "s5", " b", "o", "I", "fmtaM", "Z", "A"})
    EXPECT_TRUE(parse_itrace(good, ItraceDefaults::kReport)) << good;
}

}  // namespace
}  // namespace sonde
