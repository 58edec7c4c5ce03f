#include "c2c/cache_lines.h"

#include <gtest/gtest.h>

namespace sonde::c2c {
namespace {

TEST(CacheLines, SetsOfNumbersAreListedAsRanges) {
  IdSet set;
  EXPECT_EQ(set.text(), "");
  for (uint32_t id : {7U, 1U, 2U, 0U, 2U, 5U}) set.add(id);
  EXPECT_EQ(set.text(), "0-2,5,7");
  EXPECT_EQ(set.size(), 5U);
}

TEST(CacheLines, NodesOfCpusAndMemory) {
  Features features;
  features.numa = {{0, 0, 0, "0-1"}, {1, 0, 0, "2,4"}};
  features.mem_topology = MemTopology{1, 0x1000, {{0, 64, {0b0011}}, {1, 64, {0b1000}}}};
  Nodes nodes(features);
  EXPECT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes.of_cpu(4), 1U);
  EXPECT_EQ(nodes.of_cpu(3), 0U);
  EXPECT_EQ(nodes.of_physical(0x1fff), 0U);
  EXPECT_EQ(nodes.of_physical(0x2000), Nodes::kNone);
  EXPECT_EQ(nodes.of_physical(0x3001), 1U);
  IdSet cpus;
  for (uint32_t cpu : {0U, 2U, 4U}) cpus.add(cpu);
  EXPECT_EQ(nodes.cpus_of(1, cpus).text(), "2,4");
}

TEST(CacheLines, WithoutATopologyThereIsOneNode) {
  Nodes nodes{Features()};
  EXPECT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes.of_cpu(12), 0U);
  EXPECT_EQ(nodes.of_physical(0x1000), Nodes::kNone);
  IdSet cpus;
  cpus.add(3);
  EXPECT_EQ(nodes.cpus_of(0, cpus).text(), "3");
}

TEST(CacheLines, WordsOfOptions) {
  EXPECT_EQ(*parse_display("lcl"), Display::kLocalHitm);
  EXPECT_FALSE(parse_display("all"));
  auto fields = parse_row_fields("pid,offset,iaddr");
  ASSERT_TRUE(fields);
  EXPECT_EQ(*fields, (std::vector{RowField::kPid, RowField::kCode}));
  EXPECT_FALSE(parse_row_fields("pid,foo"));
}

}  // namespace
}  // namespace sonde::c2c
