// What the page of the explorer shows, as one block of bytes: four that say how long the JSON
// behind them is (little-endian), the JSON (names, events, threads, and where the columns lie),
// then the columns (page_columns.h):
//
//   frame_name, frame_object, frame_file   index into "strings", plus one; 0: none
//   frame_line, frame_kind                 as in StackFrame
//   node_depth, node_frame                 nodes depth first
//   selfN_gap, selfN_value                 of column N: distance to the next node that has a weight
//                                          (node 0 is everything's root, so nodes count from 1)
//   sample_time                            µs since the sample before
//   sample_node, sample_cpu                plus one; 0: without a stack, not known
//   sample_thread, sample_column           indices
//   sample_valueN                          of column N, where its samples differ
//   sample_place                           as PageCode::place
//   sched_…                                what threads did (page_sched.h)
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "export/page_code.h"
#include "stacks/stack_profile.h"
#include "view/timeline.h"

namespace sonde {

/// Words around the profile.
struct PageDescription {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // ("host", "web-7")
  std::vector<std::string> warnings;                       // what makes the picture incomplete
  /// Names of two profiles, where columns are pairs of before and after; else empty.
  std::vector<std::string> compared;
  std::vector<std::string> compared_events;  // of those pairs, where they are known
  PageCode code;                             // of the hottest functions
  std::optional<view::Timeline> timeline;    // of a recording of the scheduler (page_sched.h)
};

/// More samples than this are not put into a page one by one: it would not open any more. Their
/// sums are there all the same.
inline constexpr size_t kMostPageSamples = 8'000'000;

[[nodiscard]] std::string page_data(const StackProfile& profile,
                                    const PageDescription& description);

}  // namespace sonde
