// The settings and maps of programs that include bpf/programs/sum_maps.h, in their skeletons.
#pragma once

#include <algorithm>

#include "bpf/aggregation/stack_sums.h"

namespace sonde {

/// Settles them for a program that is open and not loaded yet.
template <typename Skeleton>
SumMaps sum_maps_of(Skeleton& skeleton, const StackSumOptions& options) {
  skeleton.rodata->sums_have_kernel = options.kernel_chains;
  skeleton.rodata->sums_have_user = options.user_chains;
  skeleton.rodata->sums_by_cpu = options.by_cpu;
  skeleton.rodata->sums_depth = std::clamp(options.depth, 1u, uint32_t{SUM_STACK_DEPTH});
  SumMaps maps({.parts = {skeleton.maps.even_parts, skeleton.maps.odd_parts},
                .sums = {skeleton.maps.even_sums, skeleton.maps.odd_sums}});
  maps.set_entries(std::max(options.most_entries, 1u));
  return maps;
}

}  // namespace sonde
