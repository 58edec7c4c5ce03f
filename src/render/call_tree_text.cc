#include "render/call_tree_text.h"

#include <algorithm>

#include "render/color.h"

namespace sonde::render {
namespace {

using view::CallTree;
using view::GraphStyle;
using view::GraphValue;

constexpr size_t kIndent = 12;
constexpr std::string_view kPipe = "|          ";
constexpr std::string_view kNoPipe = "           ";
constexpr size_t kLabelLimit = 1023;

class TreeWriter {
 public:
  TreeWriter(Sink& out, const CallTree& tree, const CallTreeTextOptions& options)
      : out_(out), tree_(tree), options_(options) {}

  void write_graph() {
    std::vector<uint32_t> top = tree_.top;
    if (top.size() == 1 && tree_.nodes[top[0]].cumulative == tree_.row_weight) {
      write_trunk(tree_.nodes[top[0]]);
      top = tree_.nodes[top[0]].children;
    }
    uint64_t total = is_relative() ? tree_.row_weight : tree_.total_weight;
    write_level(top, total, 1, 1, 0);
    if (wrote_) out_.put('\n');
  }

  void write_flat() {
    write_paths([this](const std::vector<uint32_t>& path) {
      const CallTree::Node& last = tree_.nodes[path.back()];
      out_.write(kNoPipe);
      write_value(last.cumulative, last.count, tree_.total_weight);
      out_.put('\n');
      for (uint32_t node : path)
        for (std::string_view label : tree_.nodes[node].labels)
          out_.print("                {}\n", label.substr(0, kLabelLimit));
      out_.put('\n');
    });
  }

  void write_folded() {
    write_paths([this](const std::vector<uint32_t>& path) {
      const CallTree::Node& last = tree_.nodes[path.back()];
      write_value(last.self, last.self_count, tree_.total_weight);
      out_.put(' ');
      bool first = true;
      for (uint32_t node : path) {
        for (std::string_view label : tree_.nodes[node].labels) {
          if (!first) out_.write(options_.folded_separator);
          first = false;
          out_.write(label.substr(0, kLabelLimit));
        }
      }
      out_.put('\n');
    });
  }

 private:
  [[nodiscard]] bool is_relative() const { return options_.graph.style == GraphStyle::kRelative; }

  void write_margin() {
    out_.print("{:{}}", "", kIndent + margin_);
    wrote_ = true;
  }

  /// The common prefix of all paths needs no percentage.
  void write_trunk(const CallTree::Node& node) {
    bool first = true;
    uint64_t written = 0;
    size_t begin = options_.graph.skip_first ? 1 : 0;
    for (size_t i = begin; i < node.labels.size(); ++i) {
      write_margin();
      if (first) {
        out_.write("|\n");
        write_margin();
        out_.write("---");
        margin_ += 3;
        first = false;
      }
      out_.write(node.labels[i].substr(0, kLabelLimit));
      out_.put('\n');
      if (++written == options_.graph.limit) break;
    }
  }

  // `pipes`: a bit per depth at which a branch continues below.
  void write_separator(int depth, uint32_t pipes) {
    write_margin();
    for (int i = 0; i < depth; ++i) out_.write((pipes >> (i & 31) & 1) != 0 ? kPipe : kNoPipe);
    out_.put('\n');
  }

  template <typename Value>
  void write_line(std::string_view label, int depth, uint32_t pipes, bool first,
                  const Value& value) {
    write_margin();
    for (int i = 0; i < depth; ++i) {
      out_.put((pipes >> (i & 31) & 1) != 0 ? '|' : ' ');
      if (first && i == depth - 1) {
        out_.write("--");
        value();
        out_.write("--");
      } else {
        out_.write("          ");
      }
    }
    out_.write(label.substr(0, kLabelLimit));
    out_.put('\n');
  }

  void write_level(const std::vector<uint32_t>& nodes, uint64_t total, int depth, uint32_t pipes,
                   uint64_t count_of_parent) {
    uint32_t below_pipes = pipes;
    uint64_t remaining = total;
    uint64_t counted = 0;
    uint64_t written = 0;
    for (size_t n = 0; n < nodes.size(); ++n) {
      const CallTree::Node& node = tree_.nodes[nodes[n]];
      remaining -= node.cumulative;
      counted += node.count;
      bool is_last = n + 1 == nodes.size();
      if (is_last && (!is_relative() || remaining == 0)) below_pipes &= ~bit(depth - 1);
      write_separator(depth, pipes);
      for (size_t i = 0; i < node.labels.size(); ++i)
        write_line(node.labels[i], depth, below_pipes, i == 0,
                   [&] { write_value(node.cumulative, node.count, total); });
      uint64_t new_total = is_relative() ? node.below() : total;
      write_level(node.children, new_total, depth + 1, below_pipes | bit(depth),
                  node.count - node.self_count);
      if (++written == options_.graph.limit) break;
    }
    if (is_relative() && remaining != 0 && remaining != total)
      write_rest(remaining, count_of_parent - counted, total, depth, below_pipes & ~bit(depth - 1));
  }

  /// Writes the remainder below the threshold.
  void write_rest(uint64_t weight, uint64_t count, uint64_t total, int depth, uint32_t pipes) {
    if (options_.graph.value == GraphValue::kCount && depth > 1 && static_cast<int64_t>(count) <= 0)
      return;
    write_line("[...]", depth, pipes, true, [&] { write_value(weight, count, total); });
  }

  static uint32_t bit(int depth) { return uint32_t{1} << (depth & 31); }

  void write_value(uint64_t weight, uint64_t count, uint64_t total) {
    switch (options_.graph.value) {
      case GraphValue::kPeriod:
        out_.print("{}", weight);
        return;
      case GraphValue::kCount:
        out_.print("{}", count);
        return;
      case GraphValue::kPercent:
        break;
    }
    double percent =
        total == 0 ? 0.0 : static_cast<double>(weight) * 100.0 / static_cast<double>(total);
    Escape color = options_.color ? percent_color(percent) : Escape();
    out_.write(color);
    out_.print("{:.2f}%", percent);
    if (!color.empty()) out_.write(kReset);
  }

  template <typename Write>
  void write_paths(const Write& write) {
    std::vector<std::vector<uint32_t>> paths;
    std::vector<uint32_t> path;
    for (uint32_t node : tree_.top) collect_paths(node, path, paths);
    std::ranges::stable_sort(paths, std::greater(), [this](const std::vector<uint32_t>& p) {
      return tree_.nodes[p.back()].self;
    });
    if (options_.graph.limit != 0 && paths.size() > options_.graph.limit)
      paths.resize(options_.graph.limit);
    for (const std::vector<uint32_t>& found : paths) write(found);
  }

  /// All paths that end at some node, longer ones first.
  void collect_paths(uint32_t id, std::vector<uint32_t>& path,
                     std::vector<std::vector<uint32_t>>& paths) const {
    path.push_back(id);
    for (uint32_t child : tree_.nodes[id].children) collect_paths(child, path, paths);
    if (tree_.nodes[id].self != 0) paths.push_back(path);
    path.pop_back();
  }

  Sink& out_;
  const CallTree& tree_;
  const CallTreeTextOptions& options_;
  size_t margin_ = 0;  // additional blanks below the trunk
  bool wrote_ = false;
};

}  // namespace

void write_call_tree(Sink& out, const CallTree& tree, const CallTreeTextOptions& options) {
  TreeWriter writer(out, tree, options);
  switch (options.graph.style) {
    case GraphStyle::kNone:
      return;
    case GraphStyle::kAbsolute:
    case GraphStyle::kRelative:
      return writer.write_graph();
    case GraphStyle::kFlat:
      return writer.write_flat();
    case GraphStyle::kFolded:
      return writer.write_folded();
  }
}

}  // namespace sonde::render
