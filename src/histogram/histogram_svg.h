// Histograms as one SVG picture: a row of columns for each key, below each other.
#pragma once

#include "base/sink.h"
#include "histogram/histogram_set.h"

namespace sonde {

/// The first `most` histograms. Each column says on hovering which values it stands for, and how
/// many events.
void write_histograms_svg(Sink& out, const HistogramSet& set, size_t most);

}  // namespace sonde
