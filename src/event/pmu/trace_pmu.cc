#include "event/pmu/trace_pmu.h"

#include <bit>

#include "base/text.h"

namespace sonde {
namespace {

uint64_t hex_cap(const Pmu& pmu, std::string_view name) {
  std::optional<std::string> text = pmu.cap(name);
  return text ? parse_hex(*text).value_or(0) : 0;
}

bool has_cap(const Pmu& pmu, std::string_view name) {
  std::optional<std::string> text = pmu.cap(name);
  return !text || parse_number(*text).value_or(0) != 0;
}

/// The value up to `wanted` that is nearest to it; else the lowest.
uint64_t nearest_value(uint64_t valid, unsigned wanted) {
  uint64_t up_to = valid & ((uint64_t{2} << wanted) - 1);
  if (up_to == 0) return static_cast<uint64_t>(std::countr_zero(valid));
  return static_cast<uint64_t>(std::bit_width(up_to)) - 1;
}

void set(const Pmu& pmu, std::string_view name, uint64_t value, uint64_t& config) {
  const PmuFormat* format = pmu.format(name);
  if (format == nullptr || format->word != 0) return;
  config = (config & ~format->mask()) | format->spread(value);
}

/// "0-5", "0,3,6,9"
std::string list_of(uint64_t valid) {
  std::vector<std::string> ranges;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((valid >> bit & 1) == 0) continue;
    unsigned last = bit;
    while (last < 63 && (valid >> (last + 1) & 1) != 0) ++last;
    ranges.push_back(last == bit ? fmt::to_string(bit) : fmt::format("{}-{}", bit, last));
    bit = last;
  }
  return join(ranges, ",");
}

}  // namespace

std::optional<uint64_t> default_trace_config(const Pmu& pmu) {
  if (pmu.name() != kIntelPtPmu) return std::nullopt;
  constexpr unsigned kPeriod = 3;
  uint64_t config = 0;
  set(pmu, "tsc", 1, config);
  uint64_t mtc_periods = has_cap(pmu, "mtc") ? hex_cap(pmu, "mtc_periods") : 0;
  if (mtc_periods != 0) {
    set(pmu, "mtc", 1, config);
    set(pmu, "mtc_period", nearest_value(mtc_periods, kPeriod), config);
    uint64_t psb_periods = has_cap(pmu, "psb_cyc") ? hex_cap(pmu, "psb_periods") : 0;
    if (psb_periods != 0) set(pmu, "psb_period", nearest_value(psb_periods, kPeriod), config);
  }
  if (pmu.format("pt") != nullptr && pmu.format("branch") != nullptr) {
    set(pmu, "pt", 1, config);
    set(pmu, "branch", 1, config);
  }
  return config;
}

Result<> check_trace_config(const Pmu& pmu, uint64_t config) {
  struct Setting {
    std::string_view term, supported, values;
  };
  constexpr Setting kSettings[] = {{"cyc_thresh", "psb_cyc", "cycle_thresholds"},
                                   {"mtc_period", "mtc", "mtc_periods"},
                                   {"psb_period", "psb_cyc", "psb_periods"}};
  for (const Setting& setting : kSettings) {
    const PmuFormat* format = pmu.format(setting.term);
    if (format == nullptr || format->word != 0) continue;
    uint64_t valid = has_cap(pmu, setting.supported) ? hex_cap(pmu, setting.values) | 1 : 1;
    uint64_t value = (config & format->mask()) >> std::countr_zero(format->mask());
    if (value < 64 && (valid >> value & 1) != 0) continue;
    return fail(ErrorCode::kFailed, "Invalid {} for {}. Valid values are: {}", setting.term,
                pmu.name(), list_of(valid));
  }
  return {};
}

}  // namespace sonde
