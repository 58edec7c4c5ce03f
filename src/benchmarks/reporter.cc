#include "benchmarks/reporter.h"

namespace sonde {

namespace {

/// "1.234": seconds and whole milliseconds, as perf truncates them.
std::string seconds_text(uint64_t ns) {
  return fmt::format("{}.{:03}", ns / 1'000'000'000, ns / 1'000'000 % 1000);
}

/// A number of the default format, right-aligned.
void put_number(Sink& out, std::string_view number, std::string_view unit) {
  out.print(" {:>14} {}\n", number, unit);
}

void put_rate(Sink& out, double value, std::string_view unit) {
  put_number(out, fmt::format("{:.6f}", value), unit);
}

void put_bytes_per_second(Sink& out, double rate) {
  constexpr double kKilo = 1024, kMega = kKilo * 1024, kGiga = kMega * 1024;
  if (rate < kKilo) return put_rate(out, rate, "bytes/sec");
  if (rate < kMega) return put_rate(out, rate / kKilo, "KB/sec");
  if (rate < kGiga) return put_rate(out, rate / kMega, "MB/sec");
  put_rate(out, rate / kGiga, "GB/sec");
}

/// "inf" for 0 ns, like perf: an operation that the clock does not see.
double per_second(double amount, uint64_t ns) {
  return amount * 1e9 / static_cast<double>(ns);
}

}  // namespace

void Reporter::report(const TimedOperations& timed) {
  if (format_ == BenchmarkFormat::kSimple) return line("{}", seconds_text(timed.elapsed_ns));
  for (const std::string& done : timed.done) out_.print("# {}\n", done);
  if (timed.gap) out_.put('\n');
  out_.print(" {:>14}: {} [sec]\n", "Total time", seconds_text(timed.elapsed_ns));
  if (timed.operations) {
    double us = static_cast<double>(timed.elapsed_ns) / 1000;
    out_.put('\n');
    put_rate(out_, us / *timed.operations, "usecs/op");
    if (timed.operations_per_cpu) put_rate(out_, us / *timed.operations_per_cpu, "usecs/op/cpu");
    if (timed.per_second)
      put_number(out_, fmt::format("{:.0f}", per_second(*timed.operations, timed.elapsed_ns)),
                 "ops/sec");
  }
  out_.flush();
}

void Reporter::report(const ComparedTime& time) {
  if (format_ == BenchmarkFormat::kSimple) return line("{}", seconds_text(time.elapsed_ns));
  uint64_t us = time.elapsed_ns / 1000;
  double us_each = static_cast<double>(time.elapsed_ns) / 1000 / time.operations;
  out_.print("# {}\n {:>14}: {} usecs", time.done, "Total time", us);
  if (!time.baseline_ns) return line("\n\n {:.3f} usecs/op", us_each);
  auto more_ns = static_cast<int64_t>(time.elapsed_ns) - static_cast<int64_t>(*time.baseline_ns);
  double more_us = static_cast<double>(more_ns) / 1000;
  line(" {:+.0f} to baseline\n\n {:.3f} usecs/op {:.3f} usecs/op to baseline", more_us, us_each,
       more_us / time.operations);
}

void Reporter::report(const Throughput& throughput) {
  bool simple = format_ == BenchmarkFormat::kSimple;
  if (!simple) {
    for (const std::string& done : throughput.done) out_.print("# {}\n", done);
    out_.put('\n');
  }
  if (throughput.cycles) {
    double per_byte = static_cast<double>(*throughput.cycles) / throughput.bytes;
    if (simple) return line("{:.6f}", per_byte);
    put_rate(out_, per_byte, "cycles/byte");
  } else {
    double rate = per_second(throughput.bytes, throughput.elapsed_ns);
    if (simple) return line("{:.6f}", rate);
    put_bytes_per_second(out_, rate);
  }
  out_.flush();
}

}  // namespace sonde
