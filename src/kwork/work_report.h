// The tables of `kwork report` and `kwork latency`: a row per piece of work and CPU.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/sink.h"
#include "kwork/work_analysis.h"

namespace sonde {

/// Sort keys, largest first, in order of precedence.
enum class WorkSortKey : uint8_t { kId, kRuntime, kAverage, kMax, kCount };
/// "runtime, max, count". Fails with kUsage on an unknown key.
Result<std::vector<WorkSortKey>> parse_work_sort(std::string_view keys);

void write_work_report(Sink& out, const WorkAnalysis& analysis, std::span<const WorkSortKey> sort,
                       bool with_summary, const PipelineCounts& counts);

}  // namespace sonde
