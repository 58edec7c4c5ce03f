#include "sql/result_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printing/csv.h"
#include "base/utf8.h"

namespace sonde::sql {
namespace {

struct ToText {
  std::string operator()(Null) const { return {}; }
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(LastingText value) const { return std::string(value.text); }
  std::string operator()(const std::string& value) const { return value; }
};

bool is_number(const Value& value) {
  return std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value);
}

/// One line per row: control characters in names would break it.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  return text;
}

/// Characters, in UTF-8.
size_t display_width(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

class TableWriter final : public ResultWriter {
 public:
  explicit TableWriter(Sink& out) : out_(out) {}

  void begin(const std::vector<std::string>& columns) override {
    names_ = columns;
    waiting_.clear();
    widths_.clear();
    is_right_.assign(columns.size(), true);
    is_started_ = false;
    for (const std::string& name : columns) widths_.push_back(display_width(name));
  }
  void row(const std::vector<Value>& row) override {
    std::vector<std::string> cells;
    for (size_t i = 0; i < row.size(); ++i) {
      cells.push_back(one_line(std::visit(ToText(), row[i])));
      if (is_started_) continue;
      widths_[i] = std::max(widths_[i], display_width(cells[i]));
      if (!is_number(row[i]) && !std::holds_alternative<Null>(row[i])) is_right_[i] = false;
    }
    if (is_started_) return write(cells);
    waiting_.push_back(std::move(cells));
    constexpr size_t kRowsThatDecide = 1000;
    if (waiting_.size() >= kRowsThatDecide) start();
  }
  void end() override {
    if (!is_started_) start();
  }

 private:
  void start() {
    is_started_ = true;
    write(names_);
    std::vector<std::string> rules;
    for (size_t width : widths_) rules.emplace_back(width, '-');
    write(rules);
    for (const std::vector<std::string>& cells : waiting_) write(cells);
    waiting_.clear();
  }
  void write(const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += "  ";
      size_t width = display_width(cells[i]);
      size_t blanks = width < widths_[i] ? widths_[i] - width : 0;
      if (is_right_[i]) line.append(blanks, ' ');
      line += cells[i];
      if (!is_right_[i] && i + 1 < cells.size()) line.append(blanks, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out_.write(line);
    out_.put('\n');
  }

  Sink& out_;
  std::vector<std::string> names_;
  std::vector<size_t> widths_;
  std::vector<bool> is_right_;  // columns of numbers
  std::vector<std::vector<std::string>> waiting_;
  bool is_started_ = false;
};

class CsvWriter final : public ResultWriter {
 public:
  CsvWriter(Sink& out, bool quotes_formulas) : out_(out), quotes_formulas_(quotes_formulas) {}
  void begin(const std::vector<std::string>& columns) override {
    for (size_t i = 0; i < columns.size(); ++i) field(i, csv_text(columns[i], quotes_formulas_));
    out_.put('\n');
  }
  void row(const std::vector<Value>& row) override {
    for (size_t i = 0; i < row.size(); ++i) {
      std::string text = std::visit(ToText(), row[i]);
      field(i, is_number(row[i]) ? text : csv_text(text, quotes_formulas_));
    }
    out_.put('\n');
  }
  void end() override {}

 private:
  void field(size_t position, const std::string& text) {
    if (position > 0) out_.put(',');
    if (text.find_first_of(",\"\r\n") == std::string::npos) return out_.write(text);
    std::string quoted = "\"";
    for (char c : text) {
      if (c == '"') quoted += '"';
      quoted += c;
    }
    out_.write(quoted + '"');
  }

  Sink& out_;
  bool quotes_formulas_;
};

class JsonWriter final : public ResultWriter {
 public:
  explicit JsonWriter(Sink& out) : out_(out) {}
  void begin(const std::vector<std::string>& columns) override {
    keys_.clear();
    for (const std::string& column : columns) {
      keys_.emplace_back();
      append_json_string(keys_.back(), column);
    }
    rows_ = 0;
    out_.put('[');
  }
  void row(const std::vector<Value>& row) override {
    std::string line = rows_++ == 0 ? "\n {" : ",\n {";
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += ", ";
      line += keys_[i];
      line += ": ";
      append(row[i], line);
    }
    line += '}';
    out_.write_lines(line);
  }
  void end() override { out_.write_lines(rows_ == 0 ? "]\n" : "\n]\n"); }

 private:
  static void append(const Value& value, std::string& line) {
    const auto* real = std::get_if<double>(&value);
    if (std::holds_alternative<Null>(value) || (real != nullptr && !std::isfinite(*real)))
      line += "null";
    else if (is_number(value))
      line += std::visit(ToText(), value);
    else
      append_json_string(line, std::visit(ToText(), value));
  }

  Sink& out_;
  std::vector<std::string> keys_;
  size_t rows_ = 0;
};

}  // namespace

std::unique_ptr<ResultWriter> make_result_writer(ResultFormat format, Sink& out,
                                                 bool quotes_formulas) {
  switch (format) {
    case ResultFormat::kCsv:
      return std::make_unique<CsvWriter>(out, quotes_formulas);
    case ResultFormat::kJson:
      return std::make_unique<JsonWriter>(out);
    default:
      return std::make_unique<TableWriter>(out);
  }
}

}  // namespace sonde::sql
