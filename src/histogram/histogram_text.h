// A HistogramSet as text and as JSON.
#pragma once

#include <string>

#include "base/sink.h"
#include "histogram/histogram_set.h"

namespace sonde {

/// "4.10us", "850ns": three digits.
[[nodiscard]] std::string duration_text(double ns);
/// The two ends of a bucket as its row shows them: {"4", "7"}; of times the second is where the
/// next bucket begins. An open end is empty.
struct BucketEnds {
  std::string first, last;
};
[[nodiscard]] BucketEnds bucket_ends(const HistogramSet& set, int32_t bucket);
/// "1,234 events, mean 84.1us, p50 < 65.5us, p90 < 131us, p99 < 1.05ms"; a percentile is given as
/// the end of the bucket that it is in.
[[nodiscard]] std::string summary_text(const HistogramSet& set, const Histogram& histogram);
/// A key as rows may show it: without control characters, and valid UTF-8.
[[nodiscard]] std::string key_text(const HistogramSet& set, const Histogram& histogram);

/// The first `most` histograms; how many there are besides is said. `width`: columns there are.
void write_histograms(Sink& out, const HistogramSet& set, size_t most, size_t width);
/// An object on one line, with all histograms.
void write_histograms_json(Sink& out, const HistogramSet& set);

}  // namespace sonde
