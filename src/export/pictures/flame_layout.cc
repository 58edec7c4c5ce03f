#include "export/pictures/flame_layout.h"

#include <algorithm>
#include <ranges>

namespace sonde {
namespace {

constexpr std::string_view kDivider = "--";

bool is_waker(const StackProfile& profile, StackNodeId node, bool parent_is) {
  return parent_is || profile.name_of(node) == kDivider;
}

class GraphLayout {
 public:
  GraphLayout(const StackProfile& profile, const std::vector<double>& totals, double least)
      : profile_(profile), totals_(totals), least_(least) {}

  std::vector<FlameSpan> lay_out(double whole) && {
    // An explicit stack instead of recursion: profiles may be deeper than the thread's stack
    // allows.
    waiting_.push_back({.total = whole});
    while (!waiting_.empty()) {
      FlameSpan span = waiting_.back();
      waiting_.pop_back();
      spans_.push_back(span);
      add_children(span);
    }
    return std::move(spans_);
  }

 private:
  [[nodiscard]] bool is_shown(StackNodeId node) const {
    double total = totals_[node.index()];
    return total > 0 && total >= least_;
  }
  struct Child {
    std::string_view name;
    StackNodeId node;
  };
  /// Order of folded-stack lines: what follows the name, a blank or a semicolon, counts.
  [[nodiscard]] bool comes_first(const Child& a, const Child& b) const {
    size_t same = static_cast<size_t>(std::ranges::mismatch(a.name, b.name).in1 - a.name.begin());
    auto at = [&](const Child& child) {
      if (same < child.name.size()) return static_cast<unsigned char>(child.name[same]);
      bool has_children = profile_.nodes[child.node.index()].end > child.node.index() + 1;
      return static_cast<unsigned char>(has_children ? ';' : ' ');
    };
    return at(a) < at(b);
  }

  void add_children(const FlameSpan& span) {
    children_.clear();
    size_t first = span.node.valid() ? span.node.index() + 1 : 0;
    size_t end = span.node.valid() ? profile_.nodes[span.node.index()].end : profile_.nodes.size();
    double below = 0;
    bool any_shown = false;
    for (size_t i = first; i < end; i = profile_.nodes[i].end) {
      below += totals_[i];
      children_.push_back({{}, StackNodeId(i)});
      any_shown = any_shown || is_shown(StackNodeId(i));
    }
    if (!any_shown) return;
    for (Child& child : children_) child.name = profile_.name_of(child.node);
    std::ranges::stable_sort(children_,
                             [this](const Child& a, const Child& b) { return comes_first(a, b); });
    // From the right, so that the leftmost is popped first.
    double right = span.start + (span.node.valid() ? totals_[span.node.index()] : below);
    for (StackNodeId node : children_ | std::views::reverse | std::views::transform(&Child::node)) {
      double total = totals_[node.index()];
      right -= total;
      if (!is_shown(node)) continue;
      waiting_.push_back({.node = node,
                          .depth = span.depth + 1,
                          .start = std::max(right, 0.0),
                          .total = total,
                          .is_waker = is_waker(profile_, node, span.is_waker)});
    }
  }

  const StackProfile& profile_;
  const std::vector<double>& totals_;
  double least_;
  std::vector<FlameSpan> spans_, waiting_;
  std::vector<Child> children_;
};

/// Goes through the stacks in order; frames that the next stack does not share are closed.
class ChartLayout {
 public:
  ChartLayout(const StackProfile& profile, double least) : profile_(profile), least_(least) {}

  std::vector<FlameSpan> lay_out(size_t column, double whole) && {
    spans_.push_back({.total = whole});
    const StackSamples& samples = profile_.samples;
    for (size_t i = 0; i < samples.size(); ++i)
      if (samples.column[i] == column) add(samples.node[i], samples.value[i]);
    close_above(0);
    return std::move(spans_);
  }

 private:
  void add(StackNodeId leaf, double value) {
    path_.clear();
    for (; leaf.valid(); leaf = profile_.nodes[leaf.index()].parent) path_.push_back(leaf);
    std::ranges::reverse(path_);
    size_t same = 0;
    while (same < path_.size() && same < open_.size() && spans_[open_[same]].node == path_[same])
      ++same;
    close_above(same);
    for (size_t i = same; i < path_.size(); ++i) {
      bool under_waker = i > 0 && spans_[open_[i - 1]].is_waker;
      open_.push_back(spans_.size());
      spans_.push_back({.node = path_[i],
                        .depth = static_cast<uint32_t>(i + 1),
                        .start = now_,
                        .total = 0,
                        .is_waker = is_waker(profile_, path_[i], under_waker)});
    }
    now_ += value;
  }
  /// A frame that turns out too narrow is always the last one: those on top of it were narrower and
  /// are already gone.
  void close_above(size_t depth) {
    for (; open_.size() > depth; open_.pop_back()) {
      FlameSpan& span = spans_[open_.back()];
      span.total = now_ - span.start;
      if (span.total <= 0 || span.total < least_) spans_.resize(open_.back());
    }
  }

  const StackProfile& profile_;
  double least_;
  double now_ = 0;
  std::vector<FlameSpan> spans_;
  std::vector<size_t> open_;  // indices into spans_
  std::vector<StackNodeId> path_;
};

}  // namespace

std::vector<FlameSpan> lay_out_flame_graph(const StackProfile& profile,
                                           const std::vector<double>& totals, double whole,
                                           double least) {
  return GraphLayout(profile, totals, least).lay_out(whole);
}

std::vector<FlameSpan> lay_out_flame_chart(const StackProfile& profile, size_t column, double whole,
                                           double least) {
  return ChartLayout(profile, least).lay_out(column, whole);
}

}  // namespace sonde
