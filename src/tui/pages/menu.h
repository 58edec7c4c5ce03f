// Menu: a box of choices, drawn over the page below.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tui/pages/page.h"

namespace sonde::tui {

class Menu final : public Page {
 public:
  struct Item {
    std::string text;
    std::function<void(Pages&)> choose;
  };
  Menu(const Theme& theme, std::string title, std::vector<Item> items)
      : theme_(theme), title_(std::move(title)), items_(std::move(items)) {}

  void draw(Grid& grid) override;
  void on_key(const Key& key, Pages& pages) override;
  [[nodiscard]] bool is_overlay() const override { return true; }
  [[nodiscard]] size_t chosen() const { return chosen_; }

 private:
  void choose(Pages& pages);
  const Theme& theme_;
  std::string title_;
  std::vector<Item> items_;
  size_t chosen_ = 0, top_ = 0;
  size_t first_row_ = 0, shown_ = 0;
};

}  // namespace sonde::tui
