#include "tui/pages/text_page.h"

#include <algorithm>

namespace sonde::tui {

void TextPage::draw(Grid& grid) {
  grid.fill(0, 0, grid.columns(), theme_.bar);
  grid.put(0, 1, title_, theme_.bar);
  height_ = grid.rows() - 2;
  top_ = std::min(top_, lines_.size() > height_ ? lines_.size() - height_ : 0);
  for (size_t i = 0; i < height_ && top_ + i < lines_.size(); ++i) {
    // "  key  what it does": highlight the keys.
    const std::string& line = lines_[top_ + i];
    size_t end = line.starts_with("  ") ? line.find("  ", 2) : std::string::npos;
    if (line.starts_with(' ') || line.empty())
      grid.put(i + 1, 0, line, theme_.plain);
    else
      grid.put(i + 1, 0, line, theme_.titles);
    if (end != std::string::npos && end > 2) grid.restyle(i + 1, 2, end, theme_.titles);
  }
  bool more = top_ + height_ < lines_.size();
  grid.put(grid.rows() - 1, 1, more ? "↓ more below; q, Esc: back" : "q, Esc: back", theme_.dim);
}

void TextPage::on_key(const Key& key, Pages& pages) {
  auto up = [&](size_t lines) { top_ -= std::min(top_, lines); };
  switch (key.kind) {
    case Key::Kind::kUp:
    case Key::Kind::kWheelUp:
      return up(1);
    case Key::Kind::kDown:
    case Key::Kind::kWheelDown:
      ++top_;
      return;
    case Key::Kind::kPageUp:
      return up(height_);
    case Key::Kind::kPageDown:
      top_ += height_;
      return;
    case Key::Kind::kHome:
      top_ = 0;
      return;
    case Key::Kind::kEnd:
      top_ = lines_.size();
      return;
    default:
      if (key.is(' '))
        top_ += height_;
      else if (key.kind != Key::Kind::kUnknown)
        pages.pop();
  }
}

}  // namespace sonde::tui
