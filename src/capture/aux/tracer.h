// What a kind of tracer is asked: TracePlan's part that differs between them.
#pragma once

#include "base/sys.h"
#include "capture/aux/trace_plan.h"

namespace sonde {

struct TracerSetting {
  const RecordOptions& options;
  const Target& target;
  const Pmu& pmu;
  Sys& sys;
  ParsedEvent& event;  // its attr is completed
  /// What is common to all is known: sizes, whether snapshots or samples are taken. The rest is
  /// filled in.
  TracePlan& plan;
};

/// May events of whole CPUs be opened?
bool may_open_on_cpus(Sys& sys, abi::EventAttr attr);
/// A value of a PMU's format in `config`, as a mask; 0 if it has none there.
uint64_t config_mask(const Pmu& pmu, std::string_view format);

}  // namespace sonde
