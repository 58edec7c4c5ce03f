// A flame graph on the screen.
#pragma once

#include <memory>

#include "tui/models/flame_view.h"
#include "tui/pages/page.h"

namespace sonde::tui {

class FlamePage final : public Page {
 public:
  FlamePage(const Theme& theme, std::string title, std::unique_ptr<FlameTree> tree)
      : theme_(theme), title_(std::move(title)), tree_(std::move(tree)), view_(*tree_) {}
  void draw(Grid& grid) override;
  void on_key(const Key& key, Pages& pages) override;

 private:
  void draw_box(Grid& grid, size_t row, const FlameBox& box, bool is_cursor) const;
  void press(const Key& key);
  void ask_search(Pages& pages);

  const Theme& theme_;
  std::string title_;
  std::unique_ptr<FlameTree> tree_;
  FlameView view_;
  TextMatch wanted_;
  size_t top_ = 0;  // first depth on the screen
};

}  // namespace sonde::tui
