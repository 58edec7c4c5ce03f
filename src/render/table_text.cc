#include "render/table_text.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/parallel.h"
#include "base/printing/csv.h"
#include "base/printing/printable.h"
#include "base/utf8.h"
#include "render/call_tree_text.h"
#include "render/color.h"
#include "render/percent_text.h"

namespace sonde::render {
namespace {

using view::Column;
using view::Table;

/// What a percentage takes besides the number: a blank and the sign.
constexpr size_t kPercentExtra = 2;

/// "100.00", an end of an interval.
constexpr size_t kIntervalDigits = 6;

/// Blanks per level of a hierarchy.
constexpr size_t kLevelIndent = 3;

/// Indent before the text column of a hierarchy, so that the deepest level fits.
size_t level_margin(const Table& table) {
  return table.hierarchy_levels < 2 ? 0 : (table.hierarchy_levels - 1) * kLevelIndent;
}

class RowWriter {
 public:
  /// `is_shown`: texts are made printable, for a line that is written as it is.
  RowWriter(const Table& table, const TableTextOptions& options, bool is_shown)
      : table_(table), options_(options), is_shown_(is_shown) {}

  /// Valid until the next call.
  const std::string& line(size_t row, std::vector<size_t>* starts = nullptr) {
    line_.clear();
    if (starts != nullptr) starts->clear();
    bool first = true;
    if (table_.hierarchy_levels != 0) line_.append(table_.depth[row] * kLevelIndent, ' ');
    size_t cell = 0;
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      const Column& column = table_.columns[i];
      if (options_.separator.empty())
        line_ += "  ";
      else if (!first)
        line_ += options_.separator;
      first = false;
      bool is_last = i + 1 == table_.columns.size();
      if (is_last && options_.separator.empty()) line_.append(level_margin(table_), ' ');
      size_t invisible = 0;
      size_t begin = line_.size();
      if (starts != nullptr) starts->push_back(begin);
      if (column.kind == Column::Kind::kNotAvailable)
        fmt::format_to(std::back_inserter(line_), " {:>{}}", "N/A", column.value_width - 1);
      else if (column.kind == Column::Kind::kText)
        append_text(column, table_.text(row, cell));
      else if (column.kind == Column::Kind::kInterval)
        append_intervals(column, row, cell);
      else
        invisible = append_numbers(column, row, cell);
      cell += column.values;
      size_t shown = line_.size() - begin - invisible;
      if (!is_last && shown < column_width(column)) line_.append(column_width(column) - shown, ' ');
    }
    return line_;
  }

 private:
  /// Returns how many of the appended characters are invisible.
  size_t append_numbers(const Column& column, size_t row, size_t cell) {
    if (!column.parts.empty()) return append_parts(column, row, cell);
    size_t invisible = 0;
    size_t one = column.user_width != 0 ? column.user_width : column.value_width;
    bool is_percent = column.kind == Column::Kind::kPercent;
    size_t extra = is_percent ? kPercentExtra : 1;
    size_t digits = options_.separator.empty() ? (one > extra ? one - extra : 0) : 1;
    for (size_t i = 0; i < column.values; ++i) {
      if (!is_percent) {
        fmt::format_to(std::back_inserter(line_), " {:{}}", table_.number(row, cell + i), digits);
        continue;
      }
      double percent = table_.percent(row, cell + i);
      if (std::isnan(percent)) {
        line_.append(one, ' ');
        continue;
      }
      Escape color = options_.color ? percent_color(percent) : Escape();
      line_ += color.sequence;
      if (column.signs) {
        fmt::format_to(std::back_inserter(line_), "{:+{}.2f}", percent, one - 1);
      } else {
        line_ += ' ';
        append_percent(line_, percent, digits);
      }
      line_ += '%';
      if (!color.empty()) {
        line_ += kReset.sequence;
        invisible += color.size() + kReset.size();
      }
    }
    return invisible;
  }

  /// "  75.0%  25.0%", as wide between separators. Returns what append_numbers does.
  size_t append_parts(const Column& column, size_t row, size_t cell) {
    size_t invisible = 0;
    for (size_t i = 0; i < column.values; ++i) {
      double percent = table_.percent(row, cell + i);
      Escape color = options_.color ? percent_color(percent) : Escape();
      fmt::format_to(std::back_inserter(line_), "{}{:{}.1f}%{}", color, percent,
                     column.value_width - 1, color.empty() ? color : kReset);
      if (!color.empty()) invisible += color.size() + kReset.size();
    }
    return invisible;
  }

  /// "  1.25 ..   3.40"; between separators without blanks at its start.
  void append_intervals(const Column& column, size_t row, size_t cell) {
    auto to = std::back_inserter(line_);
    size_t digits = options_.separator.empty() ? kIntervalDigits : 0;
    size_t shown = column.values / 2 * (view::kIntervalWidth + 1) - 1;
    if (digits > 0 && shown < column.width) line_.append(column.width - shown, ' ');
    for (size_t i = 0; i < column.values; i += 2)
      fmt::format_to(to, "{}{:{}.2f} .. {:{}.2f}", i > 0 ? " " : "", table_.percent(row, cell + i),
                     digits, table_.percent(row, cell + i + 1), digits);
  }

  void append_text(const Column& column, std::string_view text) {
    size_t limit = column_width(column);
    std::string made;
    if (is_shown_) text = made = printable(text);
    if (column.cuts) text = text.substr(0, limit);
    if (is_shown_) text = text.substr(0, valid_utf8_prefix(text));  // no half of a character
    if (column.right_aligned && text.size() < limit) line_.append(limit - text.size(), ' ');
    size_t begin = line_.size();
    if (options_.quotes_formulas && looks_like_formula(text)) line_ += '\'';
    line_ += text;
    if (options_.separator.size() == 1)
      replace_separators(std::span(line_).subspan(begin), options_.separator);
  }

  const Table& table_;
  const TableTextOptions& options_;
  bool is_shown_;
  std::string line_;
};

size_t title_width(const Column& column) {
  if (column.kind == Column::Kind::kText && column.user_width != 0) return column.user_width;
  return std::max(column.width, column.user_width);
}

void append_title(std::string& line, const Column& column) {
  size_t width = title_width(column);
  std::string_view title = column.title;
  if (!column.parts.empty()) {
    for (const std::string& part : column.parts)
      fmt::format_to(std::back_inserter(line), "{:>{}}", part, column.value_width);
    line.append(width - column.width, ' ');
    return;
  }
  if (column.kind != Column::Kind::kText) {
    if (title.size() < width) line.append(width - title.size(), ' ');
    line += title;
    return;
  }
  title = title.substr(0, width);
  if (column.right_aligned) line.append(width - title.size(), ' ');
  line += title;
  if (!column.right_aligned) line.append(width - title.size(), ' ');
}

/// "---- Cache -----" above the titles of its parts; a single part has only the name there.
void append_spanning_title(std::string& line, const Column& column) {
  size_t width = title_width(column);
  std::string_view title = column.title;
  if (column.parts.size() < 2) {
    if (title.size() < width) line.append(width - title.size(), ' ');
    line += title;
    return;
  }
  size_t left = (width - title.size()) / 2 - 1;
  size_t right = width - left - title.size() - 2;
  fmt::format_to(std::back_inserter(line), "{0:-<{1}} {2} {0:-<{3}}", "", left, title, right);
}

/// Both header lines: titles, and the dots below them.
struct HeaderLines {
  std::string titles = "# ", dots = "# ";
};

/// The titles of all levels share one column.
HeaderLines hierarchy_header(const Table& table, const TableTextOptions& options) {
  HeaderLines lines;
  bool plain = options.separator.empty();
  std::string margin(plain ? level_margin(table) : 0, ' ');
  lines.titles += margin;
  lines.dots += std::string(margin.size(), '.');
  for (size_t i = 0; i + 1 < table.columns.size(); ++i) {
    append_title(lines.titles, table.columns[i]);
    lines.titles += plain ? "  " : std::string_view(options.separator);
    if (i > 0) lines.dots += plain ? ".." : std::string_view(options.separator);
    lines.dots.append(title_width(table.columns[i]), '.');
  }
  lines.titles += table.columns.back().title;
  lines.dots += plain ? "  " : std::string_view(options.separator);
  lines.dots.append(table.columns.back().width, '.');
  return lines;
}

HeaderLines header_lines(const Table& table, const TableTextOptions& options) {
  if (table.hierarchy_levels != 0) return hierarchy_header(table, options);
  HeaderLines lines;
  bool first = true;
  std::string_view gap = options.separator.empty() ? "  " : std::string_view(options.separator);
  for (const Column& column : table.columns) {
    if (!first) {
      lines.titles += gap;
      lines.dots += gap;
    }
    first = false;
    append_title(lines.titles, column);
    lines.dots.append(title_width(column), '.');
  }
  return lines;
}

void write_note(Sink& out, const Table& table, size_t row, std::string_view note) {
  size_t indent = 4;
  for (size_t i = 0; i + 1 < table.columns.size(); ++i)
    indent += title_width(table.columns[i]) + (i > 0 ? 2 : 0);
  size_t level = table.hierarchy_levels + table.depth[row] + 2;
  indent += (level - 2) * kLevelIndent;
  out.print("{:{}}{}\n", "", indent, note);
}

/// Rows [first, end) with the trees and notes below them.
void write_rows(Sink& out, const Table& table, size_t first, size_t end,
                const TableTextOptions& options) {
  Table page;
  if (table.makes_pages()) page = table.page(first, end);
  size_t before = table.makes_pages() ? first : 0;  // rows that are not in the page
  RowWriter writer(table.makes_pages() ? page : table, options, out.is_shown());
  bool has_trees = table.tree && table.graph.style != view::GraphStyle::kNone;
  CallTreeTextOptions tree_options{
      .graph = table.graph,
      .color = options.color,
      .folded_separator = options.separator.empty() ? ";" : std::string_view(options.separator)};
  auto note = std::ranges::lower_bound(table.notes, first, {}, [](auto& one) { return one.first; });
  for (size_t row = first; row < end; ++row) {
    out.write_as_is(writer.line(row - before));
    out.put('\n');
    for (; note != table.notes.end() && note->first == row; ++note)
      write_note(out, table, row, note->second);
    if (has_trees) write_call_tree(out, table.tree(row), tree_options);
  }
}

/// Where pages begin that one thread makes, and the end. The first rows are the heaviest, with the
/// largest trees.
std::vector<size_t> page_starts(const Table& table) {
  constexpr size_t kHeavyRows = 1024, kHeavyPage = 8, kPage = 1024;
  std::vector<size_t> starts;
  for (size_t row = 0; row < table.rows();) {
    starts.push_back(row);
    row += table.has_large_trees && row < kHeavyRows ? kHeavyPage : kPage;
  }
  starts.push_back(table.rows());
  return starts;
}

}  // namespace

size_t column_width(const Column& column) {
  return column.user_width != 0 && column.kind == Column::Kind::kText
             ? column.user_width
             : std::max(column.width, column.user_width);
}

std::string table_row_text(const Table& table, size_t row, const TableTextOptions& options,
                           std::vector<size_t>& starts) {
  return RowWriter(table, options, false).line(row, &starts);
}

std::string table_spanning_titles(const Table& table, const TableTextOptions& options) {
  auto has_parts = [](const Column& column) { return !column.parts.empty(); };
  if (std::ranges::none_of(table.columns, has_parts)) return {};
  std::string line = "# ";
  bool plain = options.separator.empty();
  if (plain) line.append(level_margin(table), ' ');
  for (const Column& column : table.columns) {
    if (&column != &table.columns.front()) line += plain ? "  " : options.separator;
    if (has_parts(column))
      append_spanning_title(line, column);
    else
      line.append(title_width(column), ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string table_titles(const Table& table, const TableTextOptions& options) {
  return header_lines(table, options).titles;
}

void write_table_header(Sink& out, const Table& table, const TableTextOptions& options) {
  HeaderLines lines = header_lines(table, options);
  if (std::string above = table_spanning_titles(table, options); !above.empty())
    out.print("{}\n", above);
  out.print("{}\n", lines.titles);
  if (options.separator.empty() || table.hierarchy_levels != 0) out.print("{}\n#\n", lines.dots);
}

void write_table(Sink& out, const Table& table, const TableTextOptions& options) {
  if (options.header) write_table_header(out, table, options);
  std::vector<size_t> starts = page_starts(table);
  auto text_of_page = [&](size_t page) {
    auto text = std::make_unique<StringSink>(out);
    write_rows(*text, table, starts[page], starts[page + 1], options);
    return text;
  };
  auto take = [&](std::unique_ptr<StringSink> text) {
    out.write(*text);
    return out.failed() == 0;
  };
  parallel_in_order(starts.size() - 1, text_of_page, take);
}

}  // namespace sonde::render
