#include "export/pictures/flame_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "export/pictures/flame_layout.h"
#include "stacks/folded_reader.h"

namespace sonde {
namespace {

/// By luminance (ITU-R BT.709), to which blue contributes almost nothing.
bool is_dark(Rgb color) {
  constexpr double kDark = 90;
  return 0.2126 * color.red + 0.7152 * color.green + 0.0722 * color.blue < kDark;
}

constexpr double kFrameGap = 1;  // px between levels

/// What a block is drawn from: the widths, and what they are compared to.
struct BlockData {
  const std::vector<double>* totals;
  double whole = 0;
  const std::vector<double>* other_totals = nullptr;  // null: no difference
  bool is_remainder = false;
};

class FlameGraphBuilder {
 public:
  FlameGraphBuilder(const StackProfile& profile, size_t column, FlameOptions& options)
      : profile_(profile),
        options_(options),
        column_(options.difference ? options.difference->shape : column),
        colors_(options.palette, options.shade) {}

  FlameGraph make() && {
    totals_ = totals_of(profile_, column_);
    double there = total_of(profile_.columns[column_]);
    whole_ = std::max(options_.whole, there);
    px_per_unit_ = whole_ > 0 ? (options_.width - 2 * kFlamePadding) / whole_ : 0;
    if (options_.difference) prepare_difference();

    graph_.title = title();
    graph_.width = options_.width;
    double bottom = add_block({.totals = &totals_,
                               .whole = whole_,
                               .other_totals = options_.difference ? &other_totals_ : nullptr},
                              top_of_frames());
    if (options_.difference && options_.difference->marks) bottom = add_remainder(bottom);
    graph_.height = bottom + options_.font_size * 2 + 10;
    return std::move(graph_);
  }

 private:
  [[nodiscard]] double top_of_frames() const {
    return options_.font_size * (options_.subtitle.empty() ? 3 : 5);
  }
  [[nodiscard]] std::string title() const {
    if (!options_.title.empty()) return options_.title;
    if (options_.difference) return "Differential Flame Graph";
    if (options_.chart) return "Flame Chart";
    return options_.inverted ? "Icicle Graph" : "Flame Graph";
  }

  // Difference.

  void prepare_difference() {
    other_totals_ = totals_of(profile_, options_.difference->other);
    largest_change_ = std::min(whole_, 1.0);
    for (size_t i = 0; i < profile_.nodes.size(); ++i)
      largest_change_ = std::max(largest_change_, std::abs(own_change(StackNodeId(i))));
  }
  [[nodiscard]] double signed_change(double shape, double other) const {
    return options_.difference->later_is_shape ? shape - other : other - shape;
  }
  /// The change in the self weight of exactly this stack: after minus before.
  [[nodiscard]] double own_change(StackNodeId node) const {
    if (!node.valid()) return 0;
    return signed_change(profile_.columns[column_].self[node.index()],
                         profile_.columns[options_.difference->other].self[node.index()]);
  }

  /// The stacks that the shape does not have. Returns the lower edge.
  double add_remainder(double top) {
    std::vector<double> totals(totals_.size());
    const std::vector<double>& self = profile_.columns[options_.difference->other].self;
    double whole = 0;
    for (size_t i = totals.size(); i-- > 0;) {
      if (totals_[i] == 0) totals[i] += self[i];
      StackNodeId parent = profile_.nodes[i].parent;
      (parent.valid() ? totals[parent.index()] : whole) += totals[i];
    }
    if (whole <= 0) return top;
    double heading_y = top + options_.font_size * 2;
    size_t before = graph_.blocks.size();
    double bottom = add_block({.totals = &totals, .whole = whole, .is_remainder = true},
                              heading_y + options_.font_size / 2);
    FlameBlock& block = graph_.blocks[before];
    double percent = whole_ > 0 ? 100 * whole / whole_ : 0;
    block.heading = fmt::format("{}: {} {}, {:.2f}%",
                                options_.difference->later_is_shape
                                    ? "Elided: stacks that were there only before"
                                    : "New: stacks that are there only after",
                                grouped(whole * options_.factor), options_.count_name, percent);
    block.heading_y = heading_y;
    return bottom;
  }

  // Blocks and boxes.

  double add_block(const BlockData& data, double top) {
    double least = options_.min_width.is_percent ? whole_ * options_.min_width.value / 100
                   : px_per_unit_ > 0            ? options_.min_width.value / px_per_unit_
                                                 : 0;
    std::vector<FlameSpan> spans =
        options_.chart ? lay_out_flame_chart(profile_, column_, data.whole, least)
                       : lay_out_flame_graph(profile_, *data.totals, data.whole, least);
    uint32_t deepest = 0;
    for (const FlameSpan& span : spans) deepest = std::max(deepest, span.depth);
    top_ = top;
    levels_ = deepest + 1;
    FlameBlock& block = graph_.blocks.emplace_back();
    block.boxes.reserve(spans.size());
    for (const FlameSpan& span : spans) block.boxes.push_back(box_of(span, data));
    return top + levels_ * options_.frame_height;
  }

  [[nodiscard]] SvgRect rect_of(const FlameSpan& span) const {
    double left = written_coordinate(kFlamePadding + span.start * px_per_unit_);
    double right = written_coordinate(kFlamePadding + (span.start + span.total) * px_per_unit_);
    uint32_t row = options_.inverted ? span.depth : levels_ - 1 - span.depth;
    double gap_above = options_.inverted ? 0 : kFrameGap;
    return {.x = left,
            .y = top_ + row * options_.frame_height + gap_above,
            .width = right - left,
            .height = options_.frame_height - kFrameGap};
  }

  FlameBox box_of(const FlameSpan& span, const BlockData& data) {
    FlameBox box{.rect = rect_of(span),
                 .depth = span.depth,
                 .start = span.start,
                 .total = span.total,
                 .name = {},
                 .details = {},
                 .fill = {}};
    std::string_view marked = span.node.valid() ? profile_.name_of(span.node) : "";
    box.name = span.node.valid() ? without_mark(marked) : root_name(data);
    bool is_only_here = data.other_totals != nullptr && span.node.valid() &&
                        (*data.other_totals)[span.node.index()] == 0;
    if (is_only_here && options_.difference->marks) box.mark = FlameMark::kOnlyHere;
    if (data.is_remainder) box.mark = FlameMark::kRemainder;
    box.details = details_of(span, box, data);
    box.fill = fill_of(span, marked, data);
    box.is_dark = options_.difference &&
                  is_dark(data.is_remainder ? remainder_color(span) : change_color(span));
    return box;
  }

  // Texts.

  static std::string_view root_name(const BlockData& data) {
    return data.is_remainder ? "only here" : "all";
  }
  [[nodiscard]] std::string details_of(const FlameSpan& span, const FlameBox& box,
                                       const BlockData& data) const {
    std::string count =
        grouped(span.total * options_.factor) + ' ' + std::string(options_.count_name);
    if (!span.node.valid()) {
      std::string share = data.is_remainder ? percent_of(span.total) : "100%";
      return fmt::format(" ({}, {})", count, share);
    }
    std::string text = " (" + count + ", " + percent_of(span.total);
    if (data.other_totals != nullptr) add_changes(text, span, box, *data.other_totals);
    return text + ')';
  }
  /// Based on counts as they are shown, that is, rounded to integers.
  [[nodiscard]] std::string percent_of(double value) const {
    double shown = std::nearbyint(value * options_.factor);
    std::string text;
    append_fixed(text, 100 * shown / (whole_ * options_.factor), 2);
    return text += '%';
  }
  [[nodiscard]] std::string change_text(double change) const {
    double shown = options_.negate ? 0 - change : change;  // never -0
    return fmt::format("{}{:.2f}%", shown > 0 ? "+" : "", 100 * shown / whole_);
  }
  void add_changes(std::string& text, const FlameSpan& span, const FlameBox& box,
                   const std::vector<double>& other_totals) const {
    text += "; " + change_text(own_change(span.node));
    if (!options_.difference->marks) return;
    text += " by itself, ";
    text += change_text(signed_change(span.total, other_totals[span.node.index()]));
    text += " in all";
    if (box.mark == FlameMark::kOnlyHere)
      text += options_.difference->later_is_shape ? "; new" : "; gone";
  }

  // Colours.

  std::string fill_of(const FlameSpan& span, std::string_view marked, const BlockData& data) {
    if (auto divider = divider_color(marked)) return css(*divider);
    if (data.is_remainder) return css(remainder_color(span));
    if (data.other_totals != nullptr) return css(change_color(span));
    FrameKind kind = span.is_waker       ? FrameKind::kWaker
                     : span.node.valid() ? profile_.frame_of(span.node).kind
                                         : FrameKind::kUser;
    if (options_.kept_colors == nullptr) return css(colors_.color_of(marked, kind));
    auto kept = options_.kept_colors->find(marked);
    if (kept == options_.kept_colors->end())
      kept = options_.kept_colors->emplace(marked, css(colors_.color_of(marked, kind))).first;
    return kept->second;
  }
  [[nodiscard]] Rgb change_color(const FlameSpan& span) const {
    double share = own_change(span.node) / largest_change_;
    return difference_color(options_.negate ? -share : share);
  }
  /// Frames that only lead to missing stacks are grey.
  [[nodiscard]] Rgb remainder_color(const FlameSpan& span) const {
    constexpr Rgb kWayThere{225, 225, 225};
    if (!span.node.valid() || totals_[span.node.index()] > 0) return kWayThere;
    double was = profile_.columns[options_.difference->other].self[span.node.index()];
    double share = std::max(was / largest_change_, 0.15);
    bool is_less = options_.difference->later_is_shape != options_.negate;
    return difference_color(is_less ? -share : share);
  }

  const StackProfile& profile_;
  FlameOptions& options_;
  size_t column_;
  FlameColors colors_;
  std::vector<double> totals_, other_totals_;
  double whole_ = 0;
  double px_per_unit_ = 0;
  double largest_change_ = 1;
  double top_ = 0;       // of the block being made
  uint32_t levels_ = 0;  // of it
  FlameGraph graph_;
};

}  // namespace

FlameGraph make_flame_graph(const StackProfile& profile, size_t column, FlameOptions& options) {
  return FlameGraphBuilder(profile, column, options).make();
}

}  // namespace sonde
