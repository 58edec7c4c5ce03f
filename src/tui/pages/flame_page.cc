#include "tui/pages/flame_page.h"

#include <fmt/format.h>

#include "tui/pages/prompt.h"

namespace sonde::tui {
namespace {

/// Warm colours, always the same for the same name.
Color color_of(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return Color::rgb(static_cast<uint8_t>(205 + hash % 50),
                    static_cast<uint8_t>(90 + hash / 50 % 130),
                    static_cast<uint8_t>(40 + hash / 6500 % 30));
}

}  // namespace

void FlamePage::draw_box(Grid& grid, size_t row, const FlameBox& box, bool is_cursor) const {
  std::string_view name = tree_->name(box.node);
  bool found = !wanted_.matches_all() && wanted_.matches(name);
  Style style = theme_.plain;
  if (theme_.is_colored)
    style = {.foreground = Color::rgb(0, 0, 0),
             .background = found ? Color::rgb(215, 95, 255) : color_of(name)};
  else if (found)
    style.bold = style.underline = true;
  if (is_cursor) style = theme_.cursor.with_bold();
  grid.fill(row, box.from, box.to - box.from, style);
  // A bar separates neighbours, if there is room for it.
  size_t width = box.to - box.from;
  if (width > 1) grid.put(row, box.from, "│", style);
  if (width > 2) grid.put(row, box.from + 1, name, style, width - 1);
}

void FlamePage::draw(Grid& grid) {
  grid.fill(0, 0, grid.columns(), theme_.bar);
  grid.put(0, 1, title_, theme_.bar);
  const std::vector<FlameBox>& boxes = view_.layout(grid.columns());
  size_t height = grid.rows() - 2;
  if (!boxes.empty()) {
    size_t depth = boxes[view_.cursor()].depth;
    if (depth < top_) top_ = depth;
    if (depth >= top_ + height) top_ = depth + 1 - height;
  }
  for (size_t i = 0; i < boxes.size(); ++i)
    if (boxes[i].depth >= top_ && boxes[i].depth < top_ + height)
      draw_box(grid, 1 + boxes[i].depth - top_, boxes[i], i == view_.cursor());
  if (boxes.empty()) return;
  uint32_t node = boxes[view_.cursor()].node;
  std::string said = fmt::format("{:.2f}%  {}", view_.percent(node), tree_->name(node));
  size_t end = grid.put(grid.rows() - 1, 1, said, theme_.titles);
  constexpr std::string_view kKeys = "Enter zoom  Esc back  / search";
  if (end + kKeys.size() + 3 < grid.columns())
    grid.put(grid.rows() - 1, grid.columns() - kKeys.size() - 1, kKeys, theme_.dim);
}

void FlamePage::press(const Key& key) {
  const std::vector<FlameBox>& boxes = view_.boxes();
  for (size_t i = 0; i < boxes.size(); ++i) {
    bool hit = key.row == 1 + boxes[i].depth - top_ && boxes[i].depth >= top_ &&
               key.column >= boxes[i].from && key.column < boxes[i].to;
    if (!hit) continue;
    if (i == view_.cursor())
      view_.zoom();
    else
      view_.to(i);
    return;
  }
}

void FlamePage::ask_search(Pages& pages) {
  pages.push(std::make_unique<Prompt>(
      theme_, "Search", "", false,
      Prompt::Hooks{.on_change = [this](const std::string& text, bool regex) -> std::string {
                      auto match = TextMatch::make(
                          text, regex ? TextMatch::Kind::kRegex : TextMatch::Kind::kPiece);
                      if (!match) return match.error().message;
                      wanted_ = std::move(*match);
                      size_t found = 0;
                      for (const FlameBox& box : view_.boxes())
                        found += wanted_.matches(tree_->name(box.node)) ? 1 : 0;
                      return text.empty() ? "" : fmt::format("{} boxes", found);
                    },
                    .on_cancel = [this] { wanted_ = {}; },
                    .takes_regex = true}));
}

void FlamePage::on_key(const Key& key, Pages& pages) {
  switch (key.kind) {
    case Key::Kind::kUp:
    case Key::Kind::kWheelUp:
      return view_.up();
    case Key::Kind::kDown:
    case Key::Kind::kWheelDown:
      return view_.down();
    case Key::Kind::kLeft:
      return view_.side(-1);
    case Key::Kind::kRight:
      return view_.side(1);
    case Key::Kind::kPress:
      return press(key);
    case Key::Kind::kEnter:
      if (!view_.zoom()) pages.say("this box already has the full width");
      return;
    case Key::Kind::kEscape:
    case Key::Kind::kBackspace:
      if (!view_.undo()) pages.pop();
      return;
    default:
      if (key.is('/') || key.is_control('f')) ask_search(pages);
      if (key.is('q')) pages.pop();
  }
}

}  // namespace sonde::tui
