// What the count writers share: numbers, times, the columns of --metric-only.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "render/counting.h"

namespace sonde::render {

std::unique_ptr<CountWriter> make_count_text(const CountStyle& style, Sink& out);
std::unique_ptr<CountWriter> make_count_csv(const CountStyle& style, Sink& out);
std::unique_ptr<CountWriter> make_count_json(const CountStyle& style, Sink& out);
std::unique_ptr<CountWriter> make_count_document(Sink& out);

inline constexpr std::string_view kNotCounted = "<not counted>";
inline constexpr std::string_view kNotSupported = "<not supported>";

/// The words in place of a number; empty if there is a number.
[[nodiscard]] std::string_view status_words(view::CountRow::Status status);

/// The metric's number in its own format; empty if it has none.
[[nodiscard]] std::string metric_text(const view::CountMetric& metric);
/// The same in a column, whose title has no place for the K of "K/sec".
[[nodiscard]] std::string column_text(const view::CountMetric& metric);
/// A metric's number without blanks and percent signs.
[[nodiscard]] std::string bare_text(std::string metric_text);

/// "1.000123456"
[[nodiscard]] std::string seconds_text(uint64_t ns);

/// --metric-only: a table of metrics. Cells are null for metrics that a unit lacks.
struct MetricColumns {
  std::vector<std::string> titles;
  struct Line {
    const view::CountRow* row;  // the unit's first row: identifies the line
    std::vector<const view::CountMetric*> cells;
  };
  std::vector<Line> lines;
};
[[nodiscard]] MetricColumns metric_columns(const view::CountPage& page);

}  // namespace sonde::render
