// Columns that break the rows of a table down by what the data sources of memory accesses say:
// `mem report -F op,cache`.
#pragma once

#include "report/data.h"

namespace sonde::report {

class Breakdown {
 public:
  /// Values that no access of the table has get no numbers.
  Breakdown(const EventReport::Data& data, const Plan& plan);

  /// `weight` is one for which is_breakdown holds.
  [[nodiscard]] view::Column column(Weight weight) const;
  /// Adds the cell of such a column: shares, in percent, of the row's own period.
  void add_cell(view::Table& table, Weight weight, const SourcePeriods& of_row) const;

 private:
  SourcePeriods totals_;
};

}  // namespace sonde::report
