// What the explorer's page shows, as one block of bytes: four bytes with the length of the JSON
// that follows (little-endian), the JSON (names, events, threads, and the positions of the
// columns), then the columns (page_columns.h):
//
//   frame_name, frame_object, frame_file   index into "strings", plus one; 0: none
//   frame_line, frame_kind                 as in StackFrame
//   node_depth, node_frame                 nodes depth first
//   selfN_gap, selfN_value                 of column N: distance to the next node that has a weight
//                                          (node 0 is the common root, so nodes count from 1)
//   sample_time                            µs since the previous sample
//   sample_node, sample_cpu                plus one; 0: no stack, CPU not known
//   sample_thread, sample_column           indices
//   sample_valueN                          of column N, unless all its samples have the same value
//   sample_place                           as PageCode::place
//   sched_…                                what threads did (page_sched.h)
//   call_…                                 which functions ran (page_calls.h)
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "export/page/page_code.h"
#include "stacks/stack_profile.h"
#include "view/timeline.h"

namespace sonde {

/// The text around the profile.
struct PageDescription {
  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  // ("host", "web-7")
  std::vector<std::string> warnings;                       // why the picture may be incomplete
  /// Names of the two profiles, if columns are pairs of before and after; otherwise empty.
  std::vector<std::string> compared;
  std::vector<std::string> compared_events;  // of those pairs, if known
  PageCode code;                             // of the hottest functions
  std::optional<view::Timeline> timeline;    // page_sched.h, page_calls.h
};

/// Above this number, samples are not put into a page singly, since it would no longer open. Their
/// sums are still included.
inline constexpr size_t kMaxPageSamples = 8'000'000;

[[nodiscard]] std::string page_data(const StackProfile& profile,
                                    const PageDescription& description);

}  // namespace sonde
