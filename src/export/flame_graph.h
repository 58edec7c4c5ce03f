// A flame graph as plain data: boxes with their places on the page, colours and texts. flame_svg.h
// writes it.
//
// What people know from other flame graphs holds here: measures in pixels, texts of titles and
// their roundings, colours, and the meaning of each option.
//
// A profile with the columns "before" and "after" can be drawn as a difference. The boxes show one
// of them, their colours how much fell on exactly this frame before and after: red for more, blue
// for less. Stacks that only the other one has cannot be among the boxes; they get a part of their
// own below, in the same scale:
//
//   ┌──────────────────────────┐
//   │ what is there after      │   outlined: new, before has no such stack
//   └──────────────────────────┘
//   only in before, 12 samples
//   ┌────────┐
//   │ elided │
//   └────────┘
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "export/flame_colors.h"
#include "export/svg.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// `--minwidth`: what is narrower is left out.
struct FlameMinWidth {
  double value = 0.1;
  bool is_percent = false;  // of the whole; else px
};

/// `--nameattr`: what the box of a function gets besides.
struct FlameNameAttributes {
  std::optional<std::string> title;                           // instead of its own
  std::vector<std::pair<std::string, std::string>> of_group;  // id, class, style, onclick …
  std::vector<std::pair<std::string, std::string>> of_link;   // href, target …; empty: no link
};

struct FlameDifference {
  size_t shape = 1;  // the column whose widths are drawn
  size_t other = 0;
  bool later_is_shape = true;  // false: the shape is what was before
  bool marks = false;          // says new and gone, and what changed below; and the part of its own
};

struct FlameOptions {
  std::string title = {};  // empty: what kind of graph it is
  std::string subtitle = {};
  std::string notes = {};
  std::string name_type = "Function:";
  std::string count_name = "samples";
  std::string encoding = "UTF-8";
  double width = 1200;  // px
  bool fluid = true;    // wide as the window, where a browser opens it
  double frame_height = 16;
  std::string font_family = "Verdana";
  double font_size = 12;
  double font_width = 0.59;
  FlameMinWidth min_width = {};
  bool inverted = false;  // roots at the top
  bool chart = false;     // in the order of time; needs samples
  bool reversed = false;  // the profile's stacks are upside down: for the title
  bool negate = false;    // red is less
  double whole = 0;       // what 100 % are; 0, or less than there is: what there is
  double factor = 1;      // of counts in titles
  FlamePalette palette = FlamePalette::kHot;
  FlameShade shade = FlameShade::kName;
  std::string background = {};
  std::optional<FlameDifference> difference = {};
  std::map<std::string, FlameNameAttributes, std::less<>> attributes = {};  // by name, without mark
  /// `--cp`: colours that names have had before; those of new names are added.
  std::map<std::string, std::string, std::less<>>* kept_colors = nullptr;
};

enum class FlameMark : uint8_t { kNone, kOnlyHere, kRemainder };

struct FlameBox {
  SvgRect rect;
  uint32_t depth = 0;
  double start = 0;  // in the unit of the profile
  double total = 0;
  std::string_view
      name;  // without its mark; of the profile, which must live as long; "all": the root
  std::string title;
  std::string fill;
  FlameMark mark = FlameMark::kNone;
  bool is_dark = false;  // black would be hard to read on it
};

/// Boxes that are zoomed and searched together.
struct FlameBlock {
  std::string heading;  // empty: none
  double heading_y = 0;
  std::vector<FlameBox> boxes;
};

struct FlameGraph {
  std::string title;
  double width = 0, height = 0;  // px
  std::vector<FlameBlock> blocks;
};

inline constexpr double kFlamePadding = 10;  // px, at the left and the right

/// `column` is what is drawn where there is no difference.
[[nodiscard]] FlameGraph make_flame_graph(const StackProfile& profile, size_t column,
                                          FlameOptions& options);

}  // namespace sonde
