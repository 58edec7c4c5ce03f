// The screen of `top`: a heading and tables. On a terminal each screen is drawn over the one
// before, cut to what there is room for, and keys are read; in a pipe screens follow one another as
// lines.
#pragma once

#include <termios.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/env.h"
#include "base/sink.h"
#include "view/table.h"

namespace sonde::top {

/// A line cut to so many characters, colours not counted.
[[nodiscard]] std::string cut_line(std::string_view line, size_t width);

/// Terminal settings for keys without Enter and without echo, while it lives. Does nothing where
/// the descriptor is no terminal.
class KeyInput {
 public:
  explicit KeyInput(int fd);
  ~KeyInput();
  KeyInput(const KeyInput&) = delete;
  KeyInput& operator=(const KeyInput&) = delete;
  [[nodiscard]] bool is_on() const { return before_.has_value(); }
  [[nodiscard]] int fd() const { return fd_; }
  /// The keys that were pressed; empty where there are none.
  [[nodiscard]] std::string read();

 private:
  int fd_;
  std::optional<termios> before_;
};

class TopScreen {
 public:
  /// `out_fd` is the terminal, or -1.
  TopScreen(Sink& out, int out_fd);
  [[nodiscard]] bool is_terminal() const { return is_terminal_; }
  /// Rows of tables that fit, below a heading.
  [[nodiscard]] size_t room() const;
  /// Shows a screen; `footer` stands in the last line of a terminal.
  void show(std::string_view text, std::string_view footer);
  /// Changes the last line only.
  void show_footer(std::string_view footer);
  void leave();

 private:
  [[nodiscard]] std::pair<size_t, size_t> size() const;  // lines, columns
  Sink& out_;
  int out_fd_;
  bool is_terminal_;
};

}  // namespace sonde::top
