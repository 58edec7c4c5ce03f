// A part of a timeline: a time range, and some of its threads and CPUs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "view/timeline.h"

namespace sonde {

/// Cuts off what is outside [from_ns, to_ns]; the sums become those of what is left.
void crop(view::Timeline& timeline, uint64_t from_ns, uint64_t to_ns);
/// Threads that are not `wanted` get no lane of their own.
void show_threads(view::Timeline& timeline,
                  const std::function<bool(const view::TimelineThread&)>& wanted);
/// Removes the lanes of all other CPUs.
void keep_cpus(view::Timeline& timeline, std::span<const uint32_t> numbers);

}  // namespace sonde
