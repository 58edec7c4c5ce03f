#include "sched/schedstat.h"

#include <gtest/gtest.h>

#include "sched/schedstat_domains.h"
#include "sched/schedstat_records.h"
#include "sched/schedstat_table.h"

namespace sonde {
namespace {

std::string numbers(size_t count, uint64_t first) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format(" {}", first + i);
  return text;
}

/// Two CPUs with one domain of `version`; counters are `base`, `base` + 1, …
std::string schedstat_text(uint32_t version, uint64_t base) {
  std::string text = fmt::format("version {}\ntimestamp {}\n", version, 1000 + base);
  for (int cpu = 0; cpu < 2; ++cpu)
    text += fmt::format("cpu{}{}\ndomain0 {}00000000,00000003{}\n", cpu, numbers(9, base),
                        version < 17 ? "" : "MC ", numbers(schedstat_domain_values(version), base));
  return text;
}
Schedstat parsed(const std::string& text) {
  auto stat = parse_schedstat(text, "test");
  return stat ? *stat : Schedstat{};
}

TEST(Schedstat, ReadsEachVersion) {
  for (auto [version, values] : {std::pair{15u, 36u}, std::pair{16u, 36u}, std::pair{17u, 45u}}) {
    Schedstat stat = parsed(schedstat_text(version, 5));
    ASSERT_EQ(stat.cpus.size(), 2u);
    EXPECT_EQ(stat.jiffies, 1005u);
    EXPECT_EQ(stat.cpus[1].values.back(), 13u);
    const SchedstatDomain& domain = stat.cpus[1].domains.at(0);
    EXPECT_EQ(domain.name, version < 17 ? "" : "MC");
    EXPECT_EQ(domain.cpus, "0-1");
    EXPECT_EQ(domain.values.size(), values);
    EXPECT_EQ(domain.values.size(), schedstat_domain_values(version));
    EXPECT_EQ(schedstat_domain_fields(version).size(), values + 6);  // plus the derived ones
  }
}

TEST(Schedstat, SaysWhatIsWrong) {
  for (auto [text, words] : {
           std::pair{std::string("cpu0 1\n"), "does not begin with a version"},
           std::pair{std::string("version 14\n"), "version 14 is not known"},
           std::pair{std::string("version 15\ncpu0 1 2 3\n"), "line 2"},
           std::pair{std::string("version 15\ndomain0 3 1\n"), "line 2"},
           std::pair{std::string("version 15\ntimestamp 1\n"), "no CPU"},
           std::pair{"version 15\ncpu1" + numbers(9, 0) + "\ncpu1" + numbers(9, 0), "line 3"},
       }) {
    auto stat = parse_schedstat(text, "test");
    ASSERT_FALSE(stat.has_value()) << text;
    EXPECT_NE(stat.error().message.find(words), std::string::npos) << stat.error().message;
  }
}

TEST(Schedstat, CountersOf32BitsBeginAnew) {
  Schedstat before = parsed(schedstat_text(17, 0)), after = before;
  before.cpus[0].values[2] = UINT32_MAX;
  after.cpus[0].values[2] = 4;
  auto counted = schedstat_between(before, after);
  ASSERT_TRUE(counted.has_value());
  EXPECT_EQ(counted->cpus[0].values[2], 5u);
}

TEST(Schedstat, OnlyWhatBothMomentsHave) {
  Schedstat before = parsed(schedstat_text(17, 0)), after = parsed(schedstat_text(17, 7));
  after.cpus[0].domains.clear();
  before.cpus.pop_back();
  auto counted = schedstat_between(before, after);
  ASSERT_TRUE(counted.has_value());
  ASSERT_EQ(counted->cpus.size(), 1u);
  EXPECT_TRUE(counted->cpus[0].domains.empty());
  EXPECT_FALSE(schedstat_between(parsed(schedstat_text(15, 0)), after).has_value());
}

Schedstat without_masks(Schedstat stat) {
  for (SchedstatCpu& cpu : stat.cpus)
    for (SchedstatDomain& domain : cpu.domains) domain.mask.clear();
  return stat;
}

/// Except the domains' masks, which their CPU lists express, too.
TEST(Schedstat, RecordsHoldEverything) {
  for (ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig})
    for (uint32_t version : {15u, 16u, 17u}) {
      Schedstat before = parsed(schedstat_text(version, 3)),
                after = parsed(schedstat_text(version, 90));
      ByteBuilder out(order);
      ASSERT_TRUE(encode_schedstat(before, out) && encode_schedstat(after, out));
      SchedstatReader reader;
      Bytes bytes = out.view();
      while (!bytes.empty()) {
        size_t size = load<uint16_t>(bytes.data() + 6, order);
        RecordView record;
        record.type = load<uint32_t>(bytes.data(), order);
        record.payload = bytes.subspan(8, size - 8);
        record.order = order;
        EXPECT_TRUE(reader.consume(record));
        bytes = bytes.subspan(size);
      }
      EXPECT_EQ(reader.snapshots(), (std::vector{without_masks(before), without_masks(after)}));
    }
}

TEST(Schedstat, DomainsAreNamedByTheHeader) {
  Schedstat stat = parsed(schedstat_text(17, 3));
  SchedDomains all = domains_of(stat);
  EXPECT_EQ(all.version, 17u);
  ASSERT_FALSE(all.cpus.empty());
  EXPECT_FALSE(all.cpus[0].domains.at(0).mask.empty());
  EXPECT_EQ(all.most_levels, stat.cpus[0].domains.back().level + 1);
  Schedstat unnamed = stat;
  for (SchedstatCpu& cpu : unnamed.cpus)
    for (SchedstatDomain& domain : cpu.domains) domain.name = domain.cpus = domain.mask = "";
  name_domains(unnamed, all);
  EXPECT_EQ(unnamed, stat);
  unnamed.cpus[0].domains[0].name = "own";
  name_domains(unnamed, all);
  EXPECT_EQ(unnamed.cpus[0].domains[0].name, "own");
}

/// The counters of the example in perf's manual for `sched stats report`.
Schedstat example() {
  Schedstat stat{.version = 17, .jiffies = 24537, .cpus = {}};
  SchedstatCpu& cpu = stat.cpus.emplace_back();
  cpu.values = {0, 0, 402267, 147161, 236309, 1062, 7083791148, 3449973971, 255035};
  SchedstatDomain& domain = cpu.domains.emplace_back();
  domain.name = "SMT";
  domain.cpus = "0,64";
  domain.values = {136, 131, 0, 58, 0, 0, 0, 7, 0, 2, 129};
  domain.values.resize(schedstat_domain_values(17));
  return stat;
}
bool has_line(const std::string& text, std::string_view line) {
  return ("\n" + text).find("\n" + std::string(line) + "\n") != std::string::npos;
}

TEST(SchedstatTable, LinesAreThoseOfPerf) {
  StringSink out;
  write_schedstat(out, example(), {});
  auto label = [](std::string_view name) { return fmt::format("{:<65}:", name); };
  EXPECT_TRUE(has_line(out.text(), label("Time elapsed (in jiffies)") + "       24537"));
  EXPECT_TRUE(has_line(out.text(), label("sched_goidle") + "      147161  (    36.58% )"));
  EXPECT_TRUE(has_line(out.text(), label("run_delay") + "  3449973971  (    48.70% )"));
  EXPECT_TRUE(has_line(out.text(), "CPU 0, DOMAIN SMT CPUS 0,64"));
  EXPECT_TRUE(has_line(out.text(),
                       "----------------------------------------- <Category busy> "
                       "------------------------------------------"));
  EXPECT_TRUE(has_line(out.text(), label("busy_lb_count") + "         136  $      180.42 $"));
  EXPECT_TRUE(has_line(out.text(), label("*busy_lb_success_count") + "           5"));
  EXPECT_TRUE(has_line(out.text(), label("*busy_lb_avg_pulled") + "        1.40"));
  EXPECT_EQ(out.text().find("CPU 1"), std::string::npos);
}

TEST(SchedstatTable, TwoSideBySide) {
  Schedstat first = example(), second = example();
  second.cpus[0].values[3] = 100000;
  StringSink out;
  write_schedstat_diff(out, first, second, {.descriptions = true});
  EXPECT_TRUE(has_line(out.text(),
                       fmt::format("{:<65}:", "calls of schedule() that left the CPU idle") +
                           "      147161,     100000  |   -32.05% |  (    36.58%,     24.86% )"));
}

}  // namespace
}  // namespace sonde
