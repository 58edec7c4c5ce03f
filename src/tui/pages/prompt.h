// Prompt: a question in the last line, answered interactively: every keystroke takes effect at
// once, Enter accepts, Escape reverts.
#pragma once

#include <functional>
#include <string>

#include "tui/pages/page.h"

namespace sonde::tui {

/// Text with a cursor, edited by keys.
class LineEdit {
 public:
  explicit LineEdit(std::string text = {}) : text_(std::move(text)), at_(text_.size()) {}
  /// False if the key does not edit.
  bool on_key(const Key& key);
  [[nodiscard]] const std::string& text() const { return text_; }
  /// As a byte offset.
  [[nodiscard]] size_t at() const { return at_; }

 private:
  [[nodiscard]] size_t before(size_t at) const;
  [[nodiscard]] size_t behind(size_t at) const;
  std::string text_;
  size_t at_;
};

class Prompt final : public Page {
 public:
  struct Hooks {
    /// Called on every change; returns a remark ("12 of 200 rows") to show beside the text.
    std::function<std::string(const std::string& text, bool regex)> on_change = {};
    std::function<void(const std::string& text, bool regex, Pages& pages)> on_accept = {};
    std::function<void()> on_cancel = {};
    bool takes_regex = false;  // Ctrl-R toggles
  };
  Prompt(const Theme& theme, std::string question, std::string text, bool regex, Hooks hooks);

  void draw(Grid& grid) override;
  void on_key(const Key& key, Pages& pages) override;
  [[nodiscard]] bool is_overlay() const override { return true; }

 private:
  void changed();
  const Theme& theme_;
  std::string question_;
  LineEdit line_;
  bool regex_;
  Hooks hooks_;
  std::string remark_;
};

}  // namespace sonde::tui
