// TextPage: text to read: help, headers.
#pragma once

#include <string>
#include <vector>

#include "tui/pages/page.h"

namespace sonde::tui {

class TextPage final : public Page {
 public:
  TextPage(const Theme& theme, std::string title, std::vector<std::string> lines)
      : theme_(theme), title_(std::move(title)), lines_(std::move(lines)) {}
  void draw(Grid& grid) override;
  void on_key(const Key& key, Pages& pages) override;

 private:
  const Theme& theme_;
  std::string title_;
  std::vector<std::string> lines_;
  size_t top_ = 0, height_ = 1;
};

}  // namespace sonde::tui
