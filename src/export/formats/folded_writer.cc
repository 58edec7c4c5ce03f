#include "export/formats/folded_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "export/formats/exports.h"

namespace sonde {
namespace {

/// Depth first, but with siblings in the order of their lines: the name of a function is followed
/// by a blank if the stack ends there, and by a semicolon if it goes on. If one sibling's name is a
/// prefix of another's, the lines of the two may be interleaved.
class FoldedWriter {
 public:
  FoldedWriter(Sink& out, const StackProfile& profile, std::span<const size_t> columns)
      : out_(out), profile_(profile), columns_(columns) {}

  void write() {
    push_children(0, profile_.nodes.size(), 0);
    while (!waiting_.empty()) {
      Part part = waiting_.back();
      waiting_.pop_back();
      line_.resize(part.prefix_size);
      line_ += profile_.name_of(StackNodeId(part.node));
      if (!part.goes_on) {
        write_line(part.node);
        continue;
      }
      line_ += ';';
      push_children(part.node + 1, profile_.nodes[part.node].end, line_.size());
    }
    write_last();
  }

 private:
  /// The line of a node, or the lines of all its descendants.
  struct Part {
    uint32_t node;
    bool goes_on;
    size_t prefix_size;  // of the line, before the node's name
  };

  void push_children(size_t begin, size_t end, size_t prefix_size) {
    size_t first = waiting_.size();
    for (size_t node = begin; node < end; node = profile_.nodes[node].end) {
      if (has_weight(node)) waiting_.push_back({static_cast<uint32_t>(node), false, prefix_size});
      if (profile_.nodes[node].end > node + 1)
        waiting_.push_back({static_cast<uint32_t>(node), true, prefix_size});
    }
    auto is_before = [this](const Part& a, const Part& b) { return stands_before(a, b); };
    auto added = std::span(waiting_).subspan(first);
    if (!std::ranges::is_sorted(added, is_before)) std::ranges::sort(added, is_before);
    std::ranges::reverse(added);
  }
  [[nodiscard]] bool stands_before(const Part& a, const Part& b) const {
    if (a.node == b.node) return !a.goes_on && b.goes_on;
    std::string_view name_a = profile_.name_of(StackNodeId(a.node));
    std::string_view name_b = profile_.name_of(StackNodeId(b.node));
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
  void write_line(uint32_t node) {
    if (line_ != last_ || last_values_.empty()) {
      write_last();
      last_ = line_;
      last_values_.assign(columns_.size(), 0);
    }
    for (size_t i = 0; i < columns_.size(); ++i)
      last_values_[i] += profile_.columns[columns_[i]].self[node];
  }
  void write_last() {
    if (last_values_.empty()) return;
    for (double value : last_values_) {
      last_ += ' ';
      append_value(last_, value);
    }
    last_ += '\n';
    out_.write(last_);
    last_values_.clear();
  }

  Sink& out_;
  const StackProfile& profile_;
  std::span<const size_t> columns_;
  std::vector<Part> waiting_;  // a stack: the last is next
  std::string line_;
  std::string last_;                 // the last stack found, not yet written
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
