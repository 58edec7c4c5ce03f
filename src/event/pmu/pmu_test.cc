#include "event/pmu/pmu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event/parser/event_test_machine.h"

namespace sonde {
namespace {

using testing::ElementsAre;

TEST(PmuFormat, ScattersBits) {
  std::optional<PmuFormat> format = PmuFormat::parse("event", "config:0-7,32-35\n");
  ASSERT_TRUE(format);
  EXPECT_EQ(format->max_value(), 0xfffu);
  EXPECT_EQ(format->spread(0xabc), 0xa000000bcu);
  EXPECT_EQ(format->mask(), 0xf000000ffu);
  format = PmuFormat::parse("offcore", "config1:0-63");
  ASSERT_TRUE(format);
  EXPECT_EQ(format->word, 1u);
  EXPECT_EQ(format->max_value(), ~uint64_t{0});
  EXPECT_EQ(format->spread(~uint64_t{0}), ~uint64_t{0});
  EXPECT_EQ(PmuFormat::parse("x", "config3:5")->word, 3u);
}

TEST(PmuFormat, NonsenseIsNoFormat) {
  for (const char* text : {"", "config", "config:", "config:64", "config:7-3", "config4:0", "x:0",
                           "config:0-7,", "config:-", "config:0-99999999999999999999"})
    EXPECT_FALSE(PmuFormat::parse("x", text)) << text;
}

TEST(PmuCatalog, ReadsWhatIsAskedFor) {
  TestMachine machine;
  machine.add_cpu();
  machine.add_uncore();
  PmuCatalog pmus(machine.pmu_directory());
  const Pmu* cpu = pmus.find("cpu");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(cpu, pmus.find("cpu"));
  EXPECT_EQ(cpu->type(), 4u);
  EXPECT_TRUE(cpu->cpus().empty());
  EXPECT_EQ(cpu->alias("mem-loads")->terms, "event=0xcd,umask=0x1,ldlat=3");
  EXPECT_EQ(cpu->alias("nosuch"), nullptr);
  EXPECT_EQ(cpu->format("umask")->mask(), 0xff00u);
  EXPECT_EQ(cpu->cap("pmu_name"), "skylake");
  EXPECT_EQ(cpu->caps().size(), 2u);
  EXPECT_EQ(pmus.find("nosuch"), nullptr);
  EXPECT_EQ(pmus.find("../devices/cpu"), nullptr);
  EXPECT_EQ(pmus.find(""), nullptr);
  EXPECT_EQ(pmus.by_type(11)->name(), "uncore_cbox_1");
  EXPECT_EQ(pmus.by_type(99), nullptr);
  EXPECT_EQ(pmus.all().size(), 3u);
  EXPECT_THAT(pmus.core(), ElementsAre(cpu));
  EXPECT_TRUE(pmus.find("uncore_cbox_0")->is_uncore());
  EXPECT_EQ(pmus.find("uncore_cbox_0")->aliases().size(), 1u);
}

TEST(PmuCatalog, ANameMayMeanSeveralUnits) {
  TestMachine machine;
  machine.add_uncore();
  machine.write("devices/uncore_cboxes/type", "30");
  PmuCatalog pmus(machine.pmu_directory());
  EXPECT_EQ(pmus.matching("cbox").size(), 2u);
  EXPECT_EQ(pmus.matching("uncore_cbox").size(), 2u);
  EXPECT_EQ(pmus.matching("cbox_1").size(), 1u);
  EXPECT_EQ(pmus.matching("*cbox*").size(), 3u);
  EXPECT_EQ(pmus.matching("box").size(), 0u);
  EXPECT_EQ(pmus.matching("").size(), 0u);
}

TEST(PmuCatalog, AMachineWithoutPmus) {
  PmuCatalog pmus("/nonexistent");
  EXPECT_EQ(pmus.find("cpu"), nullptr);
  EXPECT_TRUE(pmus.all().empty());
  EXPECT_TRUE(pmus.matching("cpu").empty());
}

TEST(CpuList, AsTheKernelWritesIt) {
  EXPECT_EQ(parse_cpu_list("0-3,8\n"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list("2,1,1-2"), (std::vector<int>{1, 2}));
  EXPECT_EQ(parse_cpu_list(""), std::vector<int>());
  for (const char* bad : {"x", "3-1", "1,", "-", "1-", "0-4294967296", "0-99999999", "70000"})
    EXPECT_EQ(parse_cpu_list(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace sonde
