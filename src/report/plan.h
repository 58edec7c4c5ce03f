// The plan of a report: its sort keys, its columns, and the order of its rows. Made from -s, -F, -n
// and related options by perf's rules:
//
//   columns:  Children/Overhead (and -n, --show-total-period) + -F +fields + sort keys;
//             or -F alone
//   order:    overhead + sort keys + columns that are not among them yet
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profile/table_rows.h"
#include "replay/fields/trace_texts.h"
#include "replay/session.h"
#include "report/options.h"

namespace sonde::report {

/// A sort key requested on the command line.
struct KeySelection {
  const SortKeyInfo* info = nullptr;  // null: a tracepoint's field
  EventId event;                      // of the field
  const TracepointField* field = nullptr;
  bool raw = false;
  bool operator==(const KeySelection&) const = default;
};

enum class RowsOf : uint8_t { kSamples, kBranches, kMemory };

struct Plan {
  RowsOf rows = RowsOf::kSamples;
  bool children = false;       // callers get rows
  bool call_graph = false;     // call trees are shown
  bool branch_counts = false;  // they tell what the branches at each step sum to
  bool caller_order = false;
  bool self_title = false;  // the overhead column is called "Self"
  std::string sort_words;   // -s as understood
  std::vector<KeySelection> keys;
  std::vector<OrderTerm> columns;  // OrderTerm::key indexes `keys`
  std::vector<OrderTerm> order;
  bool needs_modes = false;
  bool needs_sources = false;      // some column breaks rows down by their data sources
  bool needs_latency = false;      // some column is a latency
  bool needs_parallelism = false;  // for latencies, the sort key, or --parallelism
  bool latency_first = false;      // latencies come before shares of the period
  bool has_parent = false;
  bool skip_first_call = false;
  bool makes_pages = false;  // rows of flat tables are made while they are printed, not before
  std::vector<std::string> elided;  // "comm: ls": columns that a filter makes redundant
};

/// Errors are perf's messages about keys, with the nearest name if one is close.
Result<Plan> make_plan(const ReportOptions& options, const Session& session,
                       const TraceTexts& traces);

}  // namespace sonde::report
