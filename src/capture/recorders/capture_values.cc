#include "capture/recorders/capture_values.h"

#include "base/text.h"
#include "capture/rings/ring_set.h"

namespace sonde {

std::function<Result<>(std::string_view)> ring_pages_into(uint64_t& pages) {
  return [&pages](std::string_view text) -> Result<> {
    bool rounded = false;
    pages = TRY(parse_ring_pages(text, rounded));
    return {};
  };
}

std::function<Result<>(std::string_view)> frequency_into(SamplingOptions& sampling) {
  return [&sampling](std::string_view text) -> Result<> {
    sampling.freq_max = text == "max";
    sampling.freq.reset();
    if (sampling.freq_max) return {};
    sampling.freq = parse_number(text);
    if (!sampling.freq) return fail(ErrorCode::kUsage, "expects a frequency in Hz, or 'max'");
    return {};
  };
}

}  // namespace sonde
