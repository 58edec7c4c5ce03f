// A flame graph as plain data: boxes with their positions on the page, colours and texts.
// flame_svg.h writes it.
//
// It follows the conventions of other flame graphs: sizes in pixels, the wording and rounding of
// titles, colours, and the meaning of each option.
//
// A profile with the columns "before" and "after" can be drawn as a difference. The boxes show one
// of the two; their colours show how the self weight of exactly this stack changed: red for more,
// blue for less. Stacks that only the other side has cannot be among the boxes; they are drawn
// separately below, to the same scale:
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

#include "export/pictures/flame_colors.h"
#include "export/pictures/svg.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// `--minwidth`: narrower boxes are left out.
struct FlameMinWidth {
  double value = 0.1;
  bool is_percent = false;  // of the total; otherwise px
};

/// `--nameattr`: extra attributes for the box of a function.
struct FlameNameAttributes {
  std::optional<std::string> title;                           // instead of name and details
  std::vector<std::pair<std::string, std::string>> of_group;  // id, class, style, onclick …
  std::vector<std::pair<std::string, std::string>> of_link;   // href, target …; empty: no link
};

struct FlameDifference {
  size_t shape = 1;  // the column that determines the widths
  size_t other = 0;
  bool later_is_shape = true;  // false: the shape is the earlier profile
  bool marks = false;          // marks new, gone and changed stacks, and adds the part below
};

struct FlameOptions {
  std::string title = {};  // empty: the kind of graph
  std::string subtitle = {};
  std::string notes = {};
  std::string name_type = "Function:";
  std::string count_name = "samples";
  std::string encoding = "UTF-8";
  double width = 1200;  // px
  bool fluid = true;    // follows the window width when opened in a browser
  double frame_height = 16;
  std::string font_family = "Verdana";
  double font_size = 12;
  double font_width = 0.59;
  FlameMinWidth min_width = {};
  bool inverted = false;  // roots at the top
  bool chart = false;     // in time order; needs samples
  bool reversed = false;  // the profile's stacks are reversed: affects the title only
  bool negate = false;    // red means less
  double whole = 0;       // what 100 % is; if 0 or less than the total: the total
  double factor = 1;      // applied to counts in titles
  FlamePalette palette = FlamePalette::kHot;
  FlameShade shade = FlameShade::kName;
  std::string background = {};
  std::optional<FlameDifference> difference = {};
  std::map<std::string, FlameNameAttributes, std::less<>> attributes = {};  // by unmarked name
  /// `--cp`: colours that names were given earlier; those of new names are added.
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
  std::string details;  // follows the name in the title: " (12 samples, 3.00%)"
  std::string fill;
  FlameMark mark = FlameMark::kNone;
  bool is_dark = false;  // black text would be hard to read on it
};

/// Boxes that are zoomed as one and searched together.
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

inline constexpr double kFlamePadding = 10;  // px, on the left and right

/// `column` is what is drawn if there is no difference.
[[nodiscard]] FlameGraph make_flame_graph(const StackProfile& profile, size_t column,
                                          FlameOptions& options);

}  // namespace sonde
