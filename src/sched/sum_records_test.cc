#include "sched/sum_records.h"

#include <gtest/gtest.h>

#include "perfdata/records/sideband.h"

namespace sonde {
namespace {

SchedSum example(uint32_t tid, std::string comm) {
  SchedSum sum;
  sum.pid = tid - tid % 10;
  sum.tid = tid;
  sum.comm = std::move(comm);
  sum.first_ns = 1000;
  sum.last_ns = 9000 + tid;
  sum.runtime_ns = 400;
  sum.running_ns = 410;
  sum.runnable_ns = 90;
  sum.sleeping_ns = 7000;
  sum.blocked_ns = 500;
  sum.delays = 3;
  sum.delay_ns = 90;
  sum.longest_ns = 60;
  sum.longest_end_ns = 8000;
  sum.buckets = {2, 1};
  return sum;
}

RecordView first_of(ByteBuilder& bytes, uint32_t type) {
  RecordBlock block;
  block.bytes = bytes.view();
  RecordView record;
  RecordRange range(block, bytes.order());
  while (range.next(record))
    if (record.type == type) return record;
  return {};
}

TEST(SumRecords, ComeBackInBothByteOrders) {
  for (ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    EventDesc event = sched_totals_event();
    SampleLayout layout(event.attr);
    SchedSum sum = example(4711, "worker");
    ByteBuilder bytes(order);
    encode_sched_sum(sum, event.attr, bytes);
    EXPECT_EQ(bytes.size() % 8, 0u);  // perf only reads raw data of such sizes
    Sample sample;
    ASSERT_TRUE(decode_sample(first_of(bytes, abi::kRecordSample), layout, sample));
    EXPECT_EQ(sample.period, sum.delay_ns);
    EXPECT_EQ(sample.id.time, sum.last_ns);
    EXPECT_EQ(decode_sched_sum(sample), sum);
    auto comm = decode_as<CommRecord>(first_of(bytes, abi::kRecordComm), layout);
    ASSERT_TRUE(comm);
    EXPECT_EQ(comm->comm, "worker");
    // Truncated, or of another version.
    Sample cut = sample;
    cut.raw = cut.raw.first(cut.raw.size() - 1);
    EXPECT_EQ(decode_sched_sum(cut), std::nullopt);
    cut.raw = cut.raw.subspan(4);
    EXPECT_EQ(decode_sched_sum(cut), std::nullopt);
  }
}

TEST(SumRecords, BecomeLinesOfTheTable) {
  SchedSum other = example(30, "worker");
  other.longest_ns = 70;
  other.longest_end_ns = 100;
  std::vector<SchedSum> sums = {example(20, "worker"), other, example(25, "reader")};
  std::vector<TaskLatency> each = latencies_of(sums, false);
  ASSERT_EQ(each.size(), 3u);
  EXPECT_EQ(each[0].tid, 30u);
  EXPECT_EQ(each[0].longest_start_ns, 30u);
  std::vector<TaskLatency> by_name = latencies_of(sums, true);
  ASSERT_EQ(by_name.size(), 2u);
  EXPECT_EQ(by_name[0].name, "worker");
  EXPECT_EQ(by_name[0].merged, 2u);
  EXPECT_EQ(by_name[0].delays, 6u);
  EXPECT_EQ(by_name[0].total_ns, 180u);
  EXPECT_EQ(by_name[0].longest_ns, 70u);
  EXPECT_EQ(by_name[0].histogram.counts[0], 4u);
}

TEST(DelayHistogram, ShowsFromTheFirstToTheLastBucket) {
  DelayHistogram histogram;
  for (uint64_t delay_ns : {999u, 1000u, 1999u, 2000u, 4'000'000u}) histogram.add(delay_ns);
  EXPECT_EQ(histogram.counts[0], 1u);
  EXPECT_EQ(histogram.counts[1], 2u);
  EXPECT_EQ(histogram.counts[2], 1u);
  EXPECT_EQ(histogram.counts[12], 1u);
  histogram.add(UINT64_MAX);
  EXPECT_EQ(histogram.counts.back(), 1u);
  StringSink out;
  write_histogram(out, histogram);
  EXPECT_NE(out.text().find("1 us -   2 us |          2 | ####"), std::string::npos) << out.text();
  EXPECT_NE(out.text().find("4 s -   ... |          1 | ####"), std::string::npos) << out.text();
  StringSink nothing;
  write_histogram(nothing, {});
  EXPECT_EQ(std::ranges::count(nothing.text(), '\n'), 1);
}

}  // namespace
}  // namespace sonde
