#include "sched/delay_histogram.h"

#include <fmt/format.h>

#include <string>

namespace sonde {
namespace {

/// "512 us", "2 ms", "4 s": for a power of two in us. From 1024 us on they are rounded, as is usual
/// in bucket tables.
std::string bucket_limit(size_t bucket) {
  constexpr size_t kBitsPerUnit = 10;
  constexpr std::array<std::string_view, 3> kUnits = {"us", "ms", "s"};
  return fmt::format("{} {}", 1u << bucket % kBitsPerUnit, kUnits.at(bucket / kBitsPerUnit));
}

}  // namespace

void write_histogram(Sink& out, const DelayHistogram& histogram) {
  constexpr uint64_t kBarWidth = 46;
  auto has_any = [](uint64_t count) { return count > 0; };
  const auto& counts = histogram.counts;
  auto first = static_cast<size_t>(std::ranges::find_if(counts, has_any) - counts.begin());
  auto end = static_cast<size_t>(std::find_if(counts.rbegin(), counts.rend(), has_any).base() -
                                 counts.begin());
  uint64_t most = std::ranges::max(counts);
  out.print("#  {:^16} | {:>10} | {:<{}} |\n", "DELAY", "COUNT", "GRAPH", kBarWidth);
  for (size_t i = first; i < end; ++i) {
    std::string range = i == 0 ? fmt::format("  0 - {:>6}", bucket_limit(0))
                        : i + 1 == counts.size()
                            ? fmt::format("{:>6} -   ...", bucket_limit(i - 1))
                            : fmt::format("{:>6} - {:>6}", bucket_limit(i - 1), bucket_limit(i));
    std::string bar(static_cast<size_t>(counts[i] * kBarWidth / most), '#');
    out.print("   {:>16} | {:>10} | {:<{}} |\n", range, counts[i], bar, kBarWidth);
  }
}

}  // namespace sonde
