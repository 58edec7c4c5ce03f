#include "export/formats/folded_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <vector>

#include "export/formats/exports.h"

namespace sonde {
namespace {

/// Depth first, but with siblings in the order of their lines: the name of a function is followed
/// by a blank if the stack ends there, and by a semicolon if it goes on. If one sibling's name is a
/// prefix of another's, the lines of the two may be interleaved. A line is nodes until it is
/// written: a deep stack of one long name has a text that is much larger than the profile.
class FoldedWriter {
 public:
  FoldedWriter(Sink& out, const StackProfile& profile, std::span<const size_t> columns)
      : out_(out), profile_(profile), columns_(columns) {}

  void write() {
    push_children(0, profile_.nodes.size(), 0);
    while (!waiting_.empty()) {
      Part part = waiting_.back();
      waiting_.pop_back();
      line_.resize(part.depth);
      line_.push_back(part.node);
      if (part.goes_on)
        push_children(part.node + 1, profile_.nodes[part.node].end, line_.size());
      else
        write_line();
    }
    write_last();
  }

 private:
  /// The line of a node, or the lines of all its descendants.
  struct Part {
    uint32_t node;
    bool goes_on;
    size_t depth;  // of the node: how many are above it
  };

  void push_children(size_t begin, size_t end, size_t depth) {
    size_t first = waiting_.size();
    for (size_t node = begin; node < end; node = profile_.nodes[node].end) {
      if (has_weight(node)) waiting_.push_back({static_cast<uint32_t>(node), false, depth});
      if (profile_.nodes[node].end > node + 1)
        waiting_.push_back({static_cast<uint32_t>(node), true, depth});
    }
    auto is_before = [this](const Part& a, const Part& b) { return stands_before(a, b); };
    auto added = std::span(waiting_).subspan(first);
    if (!std::ranges::is_sorted(added, is_before)) std::ranges::sort(added, is_before);
    std::ranges::reverse(added);
  }
  [[nodiscard]] bool stands_before(const Part& a, const Part& b) const {
    if (a.node == b.node) return !a.goes_on && b.goes_on;
    std::string_view name_a = name_of(a.node);
    std::string_view name_b = name_of(b.node);
    size_t common = std::min(name_a.size(), name_b.size());
    if (int order = name_a.compare(0, common, name_b, 0, common); order != 0) return order < 0;
    int rest = next_of(a, name_a, common) - next_of(b, name_b, common);
    return rest != 0 ? rest < 0 : a.node < b.node;
  }
  /// The byte of the line at a position in the name, or the one right after it; the end of a stack
  /// sorts before everything.
  static int next_of(const Part& part, std::string_view name, size_t at) {
    if (at < name.size()) return static_cast<unsigned char>(name[at]);
    return part.goes_on ? ';' : -1;
  }

  [[nodiscard]] bool has_weight(size_t node) const {
    return std::ranges::any_of(
        columns_, [&](size_t column) { return profile_.columns[column].self[node] != 0; });
  }
  /// Functions of the same name in two objects are two nodes but one line.
  void write_line() {
    if (last_values_.empty() || !is_last(line_)) {
      write_last();
      last_ = line_;
      last_values_.assign(columns_.size(), 0);
    }
    for (size_t i = 0; i < columns_.size(); ++i)
      last_values_[i] += profile_.columns[columns_[i]].self[line_.back()];
  }
  [[nodiscard]] bool is_last(std::span<const uint32_t> line) const {
    // From the end: lines that follow each other begin alike.
    return std::ranges::equal(
        line | std::views::reverse, last_ | std::views::reverse,
        [this](uint32_t a, uint32_t b) { return a == b || name_of(a) == name_of(b); });
  }
  [[nodiscard]] std::string_view name_of(uint32_t node) const {
    return profile_.name_of(StackNodeId(node));
  }
  void write_last() {
    if (last_values_.empty()) return;
    for (size_t i = 0; i < last_.size(); ++i) {
      if (i > 0) out_.put(';');
      out_.write(name_of(last_[i]));
    }
    std::string values;
    for (double value : last_values_) {
      values += ' ';
      append_value(values, value);
    }
    out_.write(values);
    out_.put('\n');
    last_values_.clear();
  }

  Sink& out_;
  const StackProfile& profile_;
  std::span<const size_t> columns_;
  std::vector<Part> waiting_;        // a stack: the last is next
  std::vector<uint32_t> line_;       // nodes, outermost first
  std::vector<uint32_t> last_;       // the last stack found, not yet written
  std::vector<double> last_values_;  // of it; empty: there is none
};

}  // namespace

void append_value(std::string& text, double value) {
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  if (std::nearbyint(value) == value && std::abs(value) <= kExactIntegers)
    fmt::format_to(std::back_inserter(text), "{}", static_cast<int64_t>(value));
  else
    fmt::format_to(std::back_inserter(text), "{}", value);
}

void write_folded(Sink& out, const StackProfile& profile, std::span<const size_t> columns) {
  FoldedWriter(out, profile, columns).write();
}

/// Writes the first event.
void export_folded(Sink& out, const StackProfile& profile) {
  if (!profile.columns.empty()) write_folded(out, profile, 0);
}

}  // namespace sonde
