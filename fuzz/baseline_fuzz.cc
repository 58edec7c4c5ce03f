// Arbitrary bytes as a file for `stat --compare`: it is rejected, or its content survives a round
// trip.
#include "analysis/comparison/baseline.h"

#include "base/check.h"
#include "fuzz/fuzz_target.h"

FUZZ_TARGET(baseline)(const uint8_t* data, size_t size) {
  using namespace sonde;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)looks_like_baseline(text);
  Result<Baseline> baseline = parse_baseline(text, "fuzz");
  if (!baseline) return 0;
  Result<Baseline> again = parse_baseline(baseline_text(*baseline), "again");
  CHECK(again && *again == *baseline);
  return 0;
}
