#include "pt/quick_flow.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pt/trace_builder.h"

#if __has_include(<intel-pt.h>)

namespace sonde::pt {
namespace {

using ::testing::ElementsAre;

class FlowLines final : public FlowObserver {
 public:
  void instruction(const Instruction& i, uint64_t now) override { add("at {:x} {}", i.ip, now); }
  void enabled(uint64_t ip, uint64_t now) override { add("on {:x} {}", ip, now); }
  void disabled(std::optional<uint64_t> at, std::optional<uint64_t> to, uint64_t) override {
    add("off {:x} {:x}", at.value_or(0), to.value_or(0));
  }
  void interrupted(uint64_t from, std::optional<uint64_t> to, uint64_t) override {
    add("int {:x} {:x}", from, to.value_or(0));
  }
  void transaction(bool begins, bool aborted, std::optional<uint64_t> ip, uint64_t) override {
    add("tsx {} {} {:x}", begins, aborted, ip.value_or(0));
  }
  void ptwrite(std::optional<uint64_t> ip, uint64_t value, uint64_t) override {
    add("ptwrite {:x} {}", ip.value_or(0), value);
  }
  void core_frequency(uint32_t ratio, uint64_t) override { add("cbr {}", ratio); }
  void items(const BlockItems& items, std::optional<uint64_t> ip, uint64_t now) override {
    add("record of {:x} at {:x} {}", items.get(BlockType::kBasic, BlockItems::kIp).value_or(1),
        ip.value_or(1), now);
  }
  void items_cut(uint64_t records) override { add("{} cut", records); }
  void lost(FlowError why, uint64_t, uint64_t) override { add("{}", describe(why)); }

  std::vector<std::string> lines;

 private:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    lines.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
};

std::vector<std::string> lines_of(Bytes trace, QuickDetail detail = QuickDetail::kAddresses) {
  FlowLines lines;
  TraceSetup setup;
  setup.crystal_numerator = 2;
  setup.crystal_denominator = 1;
  follow_quickly(trace, setup, detail, lines);
  return lines.lines;
}

TEST(QuickFlow, TellsRecordsOfTheProcessor) {
  TraceBuilder trace;
  trace.synchronize(100);
  trace.bytes({0x02, 0x63, 0x84, 0x04, 5, 0, 0, 0, 0x02, 0x33});
  trace.time(102);
  trace.bytes({0x02, 0x63, 0x84, 0x04, 6, 0, 0, 0, 0x02, 0xb3});  // BEP with a FUP
  trace.happened_at(0x401016);
  trace.bytes({0x02, 0x63, 0x84, 0x04, 7, 0, 0, 0});  // cut
  trace.branches("T");
  trace.bytes({0x02, 0x33});
  trace.bytes({0x02, 0x63, 0x84, 0x04, 8});  // ends in the middle
  EXPECT_THAT(
      lines_of(trace.view()),
      ElementsAre("record of 5 at 1 100", "record of 6 at 401016 102", "at 401016 102", "1 cut"));
}

TEST(QuickFlow, TellsThePlacesThatPacketsHave) {
  TraceBuilder trace;
  trace.synchronize(100);
  trace.enable(0x401000);
  trace.branches("TTN");
  trace.target(0x401100);
  trace.disable();
  EXPECT_THAT(lines_of(trace.view()),
              ElementsAre("on 401000 100", "at 401000 100", "at 401100 100"));
}

TEST(QuickFlow, AFupAndATipAreAnInterrupt) {
  TraceBuilder trace;
  trace.synchronize(100);
  trace.enable(0x401000);
  trace.bytes({0x3d, 0x10, 0x10});  // FUP, the last two bytes
  trace.target(0xffffffff81000000);
  trace.disable_at(0xffffffff81000010, 0x401010);
  EXPECT_THAT(
      lines_of(trace.view()),
      ElementsAre("on 401000 100", "at 401000 100", "at 401010 100", "int 401010 ffffffff81000000",
                  "at ffffffff81000000 100", "at ffffffff81000010 100",
                  "off ffffffff81000010 401010", "at 401010 100"));
}

TEST(QuickFlow, TimesPassWithMtcPackets) {
  TraceBuilder trace;
  trace.synchronize(1000);
  trace.bytes({0x02, 0x73, 0x05, 0x00, 0x00, 0x00, 0x00});  // TMA: 5 crystal clocks
  trace.bytes({0x59, 0x0a});                                // MTC: 10 of them
  trace.enable(0x401000);
  EXPECT_EQ(lines_of(trace.view()).front(), "on 401000 1010");
}

TEST(QuickFlow, OnlyPsbs) {
  TraceBuilder trace;
  for (uint8_t low : {uint8_t{0x10}, uint8_t{0x20}}) {
    trace.bytes({0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
                 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x03, 0x14, 0x00,
                 0x7d, low,  0x10, 0x40, 0x00, 0x00, 0x00, 0x02, 0x23});
    trace.target(0x401100);
  }
  EXPECT_THAT(lines_of(trace.view(), QuickDetail::kPsbs),
              ElementsAre("cbr 20", "at 401010 0", "cbr 20", "at 401020 0"));
}

TEST(QuickFlow, DamageIsToldAndSkipped) {
  TraceBuilder trace;
  trace.synchronize(100);
  trace.enable(0x401000);
  trace.bytes({0x02, 0xff});
  trace.synchronize(200);
  trace.overflow();
  trace.bytes({0x7d, 0x10, 0x10, 0x40, 0x00, 0x00, 0x00});
  EXPECT_THAT(lines_of(trace.view()),
              ElementsAre("on 401000 100", "at 401000 100", "Bad packet", "Overflow packet",
                          "on 401010 200", "at 401010 200"));
}

}  // namespace
}  // namespace sonde::pt

#endif
