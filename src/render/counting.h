// Counts as text, CSV (-x) and JSON (-j), identical to perf's output, and as a JSON document with
// numbers (--json=2).
//
//   std::unique_ptr<CountWriter> writer = make_count_writer(style, sink);
//   writer->begin(summary);
//   writer->page(page);            // once; with -I once per interval
//   writer->end(summary);
#pragma once

#include <memory>
#include <string>

#include "base/sink.h"
#include "view/counting.h"

namespace sonde::render {

struct CountStyle {
  enum class Format : uint8_t { kText, kCsv, kJson, kJson2 };
  Format format = Format::kText;
  view::CountGrouping grouping = view::CountGrouping::kAll;
  std::string separator = ",";  // of CSV
  std::string thousands = {};   // between groups of three digits, in text; empty: none
  bool color = false;
  bool metric_only = false;        // --metric-only
  bool intervals = false;          // -I: timestamps instead of the headings of a whole measurement
  bool clear_screen = false;       // --interval-clear
  bool several_runs = false;       // -r: errors are shown
  bool run_table = false;          // --table
  bool csv_summary_column = true;  // --no-csv-summary
  bool quotes_formulas = false;    // of CSV (base/csv.h)
};

class CountWriter {
 public:
  virtual ~CountWriter() = default;
  /// Called with what is measured, before any counts are known.
  virtual void begin(const view::CountSummary& /*summary*/) {}
  virtual void page(const view::CountPage& page) = 0;
  virtual void end(const view::CountSummary& /*summary*/) {}
};

std::unique_ptr<CountWriter> make_count_writer(const CountStyle& style, Sink& out);

}  // namespace sonde::render
