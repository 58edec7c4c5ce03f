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

/// "   8 - 16   us": from 1024 on in the next larger unit.
std::string range_text(size_t bucket, TimeUnit unit) {
  constexpr size_t kBitsPerUnit = 10;
  constexpr std::array<std::string_view, 4> kUnits = {"ns", "us", "ms", " s"};
  size_t base = unit == TimeUnit::kNanoseconds ? 0 : 1;
  if (bucket == 0) return fmt::format("{:4} - {:<4} {}", 0, 1, kUnits.at(base));
  size_t step = (bucket - 1) / kBitsPerUnit;
  uint64_t from = uint64_t{1} << (bucket - 1) % kBitsPerUnit;
  std::string to =
      bucket + 1 == CallTimes::kBuckets ? std::string("...") : fmt::format("{}", from * 2);
  return fmt::format("{:4} - {:<4} {}", from, to, kUnits.at(base + step));
}

}  // namespace

size_t CallTimes::bucket_of(uint64_t duration_ns, TimeUnit unit) {
  return std::min(static_cast<size_t>(std::bit_width(in_units(duration_ns, unit))), kBuckets - 1);
}

void CallTimes::add(uint64_t duration_ns, TimeUnit unit) {
  ++counts[bucket_of(duration_ns, unit)];
  ++calls;
  total_ns += duration_ns;
  shortest_ns = std::min(shortest_ns, duration_ns);
  longest_ns = std::max(longest_ns, duration_ns);
}

void write_call_times(Sink& out, const CallTimes& times, const CallTimesStyle& style) {
  out.print("#   DURATION     | {:>10} | {:<{}} |\n", "COUNT", "GRAPH", kBarWidth);
  for (size_t i = 0; i < CallTimes::kBuckets; ++i) {
    uint64_t count = times.counts[i];
    bool is_outer = times.calls != 0 && (i < CallTimes::bucket_of(times.shortest_ns, style.unit) ||
                                         i > CallTimes::bucket_of(times.longest_ns, style.unit));
    if (count == 0 && (style.hide_empty || (is_outer && style.hide_outer))) continue;
    auto length = times.calls == 0 ? size_t{0}
                                   : static_cast<size_t>(static_cast<double>(count) * kBarWidth /
                                                         static_cast<double>(times.calls));
    out.print("  {} | {:>10} | {:<{}} |\n", range_text(i, style.unit), count,
              std::string(length, '#'), kBarWidth);
  }
  if (times.calls == 0) return;
  auto units = [&](uint64_t ns) { return in_units(ns, style.unit); };
  out.print("\n# statistics  (in {})\n", style.unit == TimeUnit::kNanoseconds ? "nsec" : "usec");
  for (auto [name, value] : {std::pair{"total time", units(times.total_ns)},
                             {"  avg time", units(times.total_ns / times.calls)},
                             {"  max time", units(times.longest_ns)},
                             {"  min time", units(times.shortest_ns)},
                             {"     count", times.calls}})
    out.print("  {}: {:>20}\n", name, value);
}

}  // namespace sonde
