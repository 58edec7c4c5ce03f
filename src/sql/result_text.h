// Results of queries as text: a table for people, CSV (RFC 4180), JSON (an array of objects).
#pragma once

#include <memory>

#include "base/sink.h"
#include "sql/database.h"

namespace sonde::sql {

enum class ResultFormat : uint8_t { kTable, kCsv, kJson };

/// `out` must outlive it. A table's columns are as wide as its first thousand rows need.
/// `quotes_formulas`: of CSV (base/csv.h).
[[nodiscard]] std::unique_ptr<ResultWriter> make_result_writer(ResultFormat format, Sink& out,
                                                               bool quotes_formulas);

}  // namespace sonde::sql
