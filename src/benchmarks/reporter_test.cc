#include "benchmarks/reporter.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

template <typename Data>
std::string text_of(const Data& data, BenchmarkFormat format = BenchmarkFormat::kDefault) {
  StringSink out;
  Reporter(out, format).report(data);
  return out.text();
}

TimedOperations thousand_calls() {
  TimedOperations timed{.elapsed_ns = 1'234'567'890};
  timed.done = {"Executed 1000 calls"};
  timed.operations = 1000;
  return timed;
}

TEST(Reporter, OperationsAsPerf) {
  EXPECT_EQ(text_of(thousand_calls()),
            "# Executed 1000 calls\n\n     Total time: 1.234 [sec]\n\n"
            "    1234.567890 usecs/op\n            810 ops/sec\n");
}

TEST(Reporter, WithoutGapAndPerCpu) {
  TimedOperations timed = thousand_calls();
  timed.gap = timed.per_second = false;
  timed.operations_per_cpu = 500;
  EXPECT_EQ(text_of(timed),
            "# Executed 1000 calls\n     Total time: 1.234 [sec]\n\n"
            "    1234.567890 usecs/op\n    2469.135780 usecs/op/cpu\n");
}

TEST(Reporter, SimpleIsTheNumber) {
  EXPECT_EQ(text_of(thousand_calls(), BenchmarkFormat::kSimple), "1.234\n");
}

TEST(Reporter, ComparedWithBaseline) {
  ComparedTime time{.elapsed_ns = 2'500'000};
  time.done = "Executed 2 usleep(1000) calls";
  time.operations = 2;
  EXPECT_EQ(text_of(time),
            "# Executed 2 usleep(1000) calls\n     Total time: 2500 usecs\n\n 1250.000 usecs/op\n");
  time.baseline_ns = 2'400'000;
  EXPECT_EQ(text_of(time),
            "# Executed 2 usleep(1000) calls\n     Total time: 2500 usecs +100 to baseline\n\n"
            " 1250.000 usecs/op 50.000 usecs/op to baseline\n");
}

TEST(Reporter, ThroughputUnits) {
  Throughput copied{.elapsed_ns = 1'000'000'000};
  copied.bytes = 3.5 * 1024 * 1024;
  EXPECT_EQ(text_of(copied), "\n       3.500000 MB/sec\n");
  EXPECT_EQ(text_of(copied, BenchmarkFormat::kSimple), "3670016.000000\n");
  copied.bytes = 100;
  EXPECT_EQ(text_of(copied), "\n     100.000000 bytes/sec\n");
  copied.cycles = 50;
  EXPECT_EQ(text_of(copied), "\n       0.500000 cycles/byte\n");
}

TEST(Reporter, TooFastToSee) {
  Throughput copied{.elapsed_ns = 0};
  copied.bytes = 1024;
  EXPECT_EQ(text_of(copied), "\n            inf GB/sec\n");
}

TEST(Reporter, NotesOnlyInDefault) {
  StringSink out;
  Reporter(out, BenchmarkFormat::kSimple).note("# hidden");
  Reporter(out, BenchmarkFormat::kDefault).note("# shown");
  EXPECT_EQ(out.text(), "# shown\n");
}

}  // namespace
}  // namespace sonde
