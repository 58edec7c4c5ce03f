// RowSource: a table of a recording as SQL sees it: columns by name, cells computed when they are
// asked for. Nothing is stored per row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sonde::sql {

struct Null {};
/// Text that outlives the table.
struct LastingText {
  std::string_view text;
};
/// NULL; a number; text or bytes, of which SQLite makes a copy unless they are lasting.
using Value = std::variant<Null, int64_t, double, LastingText, std::string>;

struct Column {
  std::string name;
  enum class Type : uint8_t { kInteger, kReal, kText } type = Type::kText;
  /// Rows of one value follow each other, by ascending value: `rows_equal` finds them.
  bool is_key = false;
  /// `sorted_by` can list the rows in order of this column: SQLite then groups without sorting.
  bool can_sort = false;
};

class RowSource {
 public:
  virtual ~RowSource() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] virtual size_t rows() const = 0;
  /// Asked row by row; not by several threads.
  [[nodiscard]] virtual Value at(size_t row, size_t column) = 0;
  /// Of a key column: rows [first, end).
  [[nodiscard]] virtual std::pair<size_t, size_t> rows_equal(size_t /*column*/, int64_t /*value*/) {
    return {0, rows()};
  }
  /// Of a column that can sort: all rows, ascending, NULL first, text by its bytes.
  [[nodiscard]] virtual std::vector<uint32_t> sorted_by(size_t /*column*/) { return {}; }

 protected:
  RowSource(std::string name, std::vector<Column> columns)
      : name_(std::move(name)), columns_(std::move(columns)) {}

 private:
  std::string name_;
  std::vector<Column> columns_;
};

/// Numbers as SQL has them: 64 bits with a sign. Addresses beyond 2^63 come out negative; hex()
/// shows them (printf('%x', ip)).
[[nodiscard]] inline Value number(uint64_t value) {
  return static_cast<int64_t>(value);
}

}  // namespace sonde::sql
