#include "ftrace/call_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>

namespace sonde {
namespace {

constexpr size_t kBarWidth = 46;

uint64_t in_units(uint64_t ns, TimeUnit unit) {
  constexpr uint64_t kNsPerUs = 1000;
  return unit == TimeUnit::kNanoseconds ? ns : ns / kNsPerUs;
}

constexpr std::array<std::string_view, 4> kUnits = {"ns", "us", "ms", " s"};

size_t first_unit(TimeUnit unit) {
  return unit == TimeUnit::kNanoseconds ? 0 : 1;
}

/// "  10 - 15   us", always in the same unit.
std::string even_range_text(size_t bucket, const CallBuckets& buckets) {
  std::string_view unit = kUnits.at(first_unit(buckets.unit));
  if (bucket == 0)
    return fmt::format("{:4} - {:<4} {}", 0, std::max<uint64_t>(buckets.from, 1), unit);
  uint64_t from = buckets.from + (bucket - 1) * buckets.range;
  if (bucket + 1 == buckets.count()) return fmt::format("{:4} - {:<4} {}", buckets.to, "...", unit);
  return fmt::format("{:4} - {:<4} {}", from, std::min(from + buckets.range, buckets.to), unit);
}

/// "   8 - 16   us": from 1024 on in the next larger unit.
std::string range_text(size_t bucket, const CallBuckets& buckets) {
  if (buckets.range != 0) return even_range_text(bucket, buckets);
  constexpr size_t kBitsPerUnit = 10;
  size_t base = first_unit(buckets.unit);
  if (bucket == 0) return fmt::format("{:4} - {:<4} {}", 0, 1, kUnits.at(base));
  size_t step = (bucket - 1) / kBitsPerUnit;
  uint64_t from = uint64_t{1} << (bucket - 1) % kBitsPerUnit;
  std::string to =
      bucket + 1 == CallTimes::kBuckets ? std::string("...") : fmt::format("{}", from * 2);
  return fmt::format("{:4} - {:<4} {}", from, to, kUnits.at(base + step));
}

}  // namespace

Result<> CallBuckets::settle() {
  if (range == 0) {
    if (from == 0 && to == 0) return {};
    return fail(ErrorCode::kUsage,
                "Error: --min-latency and --max-latency need buckets of one size: --bucket-range");
  }
  constexpr uint64_t kBetween = kMost - 2;
  constexpr uint64_t kLongest = UINT64_MAX / 2;
  if (range > kLongest / kBetween || from > kLongest || to > kLongest)
    return fail(ErrorCode::kUsage, "Error: --bucket-range {}: too large", range);
  if (to == 0) to = from + kBetween * range;
  if (to <= from)
    return fail(ErrorCode::kUsage, "Error: --max-latency {} is not above --min-latency {}", to,
                from);
  if ((to - from - 1) / range + 1 > kBetween)
    return fail(
        ErrorCode::kUsage,
        "Error: more than {} buckets from {} to {}: a larger --bucket-range than {} is needed",
        kBetween, from, to, range);
  return {};
}

size_t CallBuckets::count() const {
  return range == 0 ? kMost : static_cast<size_t>((to - from - 1) / range + 1) + 2;
}

size_t CallBuckets::of(uint64_t duration_ns) const {
  uint64_t duration = in_units(duration_ns, unit);
  if (range == 0) return std::min(static_cast<size_t>(std::bit_width(duration)), kMost - 1);
  if (duration < std::max<uint64_t>(from, 1)) return 0;
  if (duration >= to) return count() - 1;
  return static_cast<size_t>((duration - from) / range) + 1;
}

void CallTimes::add(uint64_t duration_ns, const CallBuckets& buckets) {
  ++counts[buckets.of(duration_ns)];
  ++calls;
  total_ns += duration_ns;
  shortest_ns = std::min(shortest_ns, duration_ns);
  longest_ns = std::max(longest_ns, duration_ns);
}

void write_call_times(Sink& out, const CallTimes& times, const CallTimesStyle& style) {
  out.print("#   DURATION     | {:>10} | {:<{}} |\n", "COUNT", "GRAPH", kBarWidth);
  for (size_t i = 0; i < style.buckets.count(); ++i) {
    uint64_t count = times.counts[i];
    bool is_outer = times.calls != 0 && (i < style.buckets.of(times.shortest_ns) ||
                                         i > style.buckets.of(times.longest_ns));
    if (count == 0 && (style.hide_empty || (is_outer && style.hide_outer))) continue;
    auto length = times.calls == 0 ? size_t{0}
                                   : static_cast<size_t>(static_cast<double>(count) * kBarWidth /
                                                         static_cast<double>(times.calls));
    out.print("  {} | {:>10} | {:<{}} |\n", range_text(i, style.buckets), count,
              std::string(length, '#'), kBarWidth);
  }
  if (times.calls == 0) return;
  auto units = [&](uint64_t ns) { return in_units(ns, style.buckets.unit); };
  out.print("\n# statistics  (in {})\n",
            style.buckets.unit == TimeUnit::kNanoseconds ? "nsec" : "usec");
  for (auto [name, value] : {std::pair{"total time", units(times.total_ns)},
                             {"  avg time", units(times.total_ns / times.calls)},
                             {"  max time", units(times.longest_ns)},
                             {"  min time", units(times.shortest_ns)},
                             {"     count", times.calls}})
    out.print("  {}: {:>20}\n", name, value);
}

}  // namespace sonde
