// The terminal of a command's browser: the source of keys, and a theme that suits its colours.
#pragma once

#include "base/env.h"
#include "base/file.h"
#include "tui/terminal/terminal.h"

namespace sonde {

/// Whether standard output is a terminal that can show a browser.
[[nodiscard]] bool can_browse(const Env& env);

class BrowserTerminal {
 public:
  /// Keys come from standard input, or from the terminal itself if standard input is something
  /// else.
  static Result<BrowserTerminal> open(Env& env);
  [[nodiscard]] tui::Terminal& terminal() { return *terminal_; }
  [[nodiscard]] const tui::Theme& theme() const { return *theme_; }
  /// Restores the terminal.
  void leave() { terminal_.reset(); }

 private:
  BrowserTerminal(Fd keys, std::unique_ptr<tui::Terminal> terminal)
      : keys_(std::move(keys)),
        terminal_(std::move(terminal)),
        theme_(std::make_unique<tui::Theme>(tui::Theme::of(terminal_->colors()))) {}
  Fd keys_;
  std::unique_ptr<tui::Terminal> terminal_;
  std::unique_ptr<tui::Theme> theme_;  // pages refer to it
};

}  // namespace sonde
