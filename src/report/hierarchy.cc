// --hierarchy: one level of rows per sort key; each row is the sum of those below it.
#include <algorithm>

#include "report/data.h"

namespace sonde::report {
namespace {

class HierarchyFiller {
 public:
  HierarchyFiller(EventReport& report, const ReportOptions& options, const Plan& plan)
      : report_(report),
        data_(*report.data),
        options_(options),
        plan_(plan),
        totals_(data_, options.relative) {}

  void fill() {
    make_columns();
    for (size_t member = 0; member < data_.rows->members(); ++member)
      effective_.push_back(sampled_total(data_, options_.relative, member).effective());
    std::vector<uint32_t> rows;
    for (uint32_t row : data_.rows->order())
      if (!data_.rows->hidden(row)) rows.push_back(row);
    add_level(rows, 0);
    if (plan_.call_graph) add_trees(report_, options_, plan_, std::move(tree_rows_));
  }

 private:
  /// Rows with equal keys up to a level.
  struct Node {
    std::vector<uint32_t> rows;
    std::vector<uint64_t> weights;  // term × member
  };

  void make_columns() {
    view::Table& table = report_.table;
    view::Column text;
    size_t widest = 0;
    for (const OrderTerm& term : plan_.columns) {
      if (!term.is_key) {
        table.columns.push_back(
            weight_column(term.weight, plan_.self_title, data_.rows->members()));
        weights_.push_back(term.weight);
        continue;
      }
      size_t key = data_.key_of_choice[term.key];
      if (key == SIZE_MAX) continue;
      view::Column column = key_column(data_, key);
      if (!keys_.empty()) text.title += " / ";
      text.title += std::string_view(column.title).substr(column.title.find_first_not_of(' '));
      widest = std::max(widest, keys_.size() * 3 + column.width);
      keys_.push_back(key);
      cut_at_.push_back(column.cuts ? column.width : std::string::npos);
    }
    while (text.title.ends_with(' ')) text.title.pop_back();
    text.width = std::max(widest, text.title.size());
    table.columns.push_back(std::move(text));
    table.hierarchy_levels = keys_.size();
  }

  std::vector<Node> split(const std::vector<uint32_t>& rows, size_t level) const {
    std::vector<Node> nodes;
    Interner values(1);
    for (uint32_t row : rows) {
      uint32_t id = values.intern({data_.rows->value(row, keys_[level])});
      if (id == nodes.size()) nodes.emplace_back();
      nodes[id].rows.push_back(row);
    }
    for (Node& node : nodes) weigh(node);
    return nodes;
  }

  void weigh(Node& node) const {
    size_t members = data_.rows->members();
    node.weights.assign(weights_.size() * members, 0);
    for (uint32_t row : node.rows)
      for (size_t i = 0; i < node.weights.size(); ++i)
        node.weights[i] += data_.rows->weight(row, i % members, weights_[i / members]);
  }

  /// Heaviest first, then by the level's key.
  void sort(std::vector<Node>& nodes, size_t level) const {
    const SortKey& key = data_.keys.key(keys_[level]);
    auto value = [&](const Node& node) { return data_.rows->value(node.rows[0], keys_[level]); };
    std::ranges::stable_sort(nodes, [&](const Node& a, const Node& b) {
      if (a.weights != b.weights) return a.weights > b.weights;
      if (int by = key.order(value(a), value(b)); by != 0) return by < 0;
      return key.collate(value(a), value(b)) < 0;
    });
  }

  [[nodiscard]] bool is_shown(const Node& node) const {
    auto limit = static_cast<float>(options_.percent_limit);
    Weight main = main_share(plan_);
    uint64_t weight = 0;
    for (uint32_t row : node.rows) weight += data_.rows->weight(row, 0, main);
    return static_cast<float>(totals_.percent(weight, main, 0)) >= limit;
  }

  void add_level(const std::vector<uint32_t>& rows, size_t level) {
    std::vector<Node> nodes = split(rows, level);
    sort(nodes, level);
    bool any = false;
    for (const Node& node : nodes) {
      if (!is_shown(node)) continue;
      any = true;
      add_row(node, level);
      if (level + 1 < keys_.size()) add_level(node.rows, level + 1);
    }
    if (!any && level > 0) add_note();
  }

  void add_row(const Node& node, size_t level) {
    view::Table& table = report_.table;
    size_t members = data_.rows->members();
    for (size_t i = 0; i < node.weights.size(); ++i) {
      Weight weight = weights_[i / members];
      size_t member = i % members;
      if (is_share(weight))
        add_share(table, weight, totals_.percent(node.weights[i], weight, member),
                  effective_[member]);
      else
        table.add_number(node.weights[i]);
    }
    std::string text;
    uint64_t samples = 0;
    for (uint32_t row : node.rows) samples += data_.rows->any(row).self_count;
    append_key_text(data_, keys_[level], node.rows[0], samples, text);
    text.resize(std::min(text.size(), cut_at_[level]));
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    table.text_buffer() += text;
    table.add_text();
    table.end_row();
    table.depth.push_back(static_cast<uint32_t>(level));
    data_.table_rows.push_back(node.rows[0]);
    bool is_leaf = level + 1 == keys_.size();
    tree_rows_.push_back(is_leaf ? node.rows[0] : TableRows::kAbsent);
  }

  void add_note() {
    report_.table.notes.emplace_back(report_.table.rows() - 1,
                                     fmt::format("no entry >= {:.2f}%", options_.percent_limit));
  }

  EventReport& report_;
  EventReport::Data& data_;
  const ReportOptions& options_;
  const Plan& plan_;
  ShareTotals totals_;
  std::vector<Weight> weights_;    // of the columns
  std::vector<size_t> keys_;       // by level
  std::vector<size_t> cut_at_;     // by level: its width as a column of its own
  std::vector<double> effective_;  // by member: samples
  std::vector<uint32_t> tree_rows_;
};

}  // namespace

void fill_hierarchy(EventReport& report, const ReportOptions& options, const Plan& plan) {
  HierarchyFiller(report, options, plan).fill();
}

}  // namespace sonde::report
