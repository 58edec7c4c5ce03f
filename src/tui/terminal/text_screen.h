// A live display without a browser: `top --stdio`, `kvm stat live`. On a terminal each screen is
// drawn over the previous one, cut to fit, and keys are read; in a pipe screens follow one another
// as lines.
#pragma once

#include <termios.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/env.h"
#include "base/sink.h"
#include "view/table.h"

namespace sonde::tui {

/// A line cut to `width` characters, not counting colours.
[[nodiscard]] std::string cut_line(std::string_view line, size_t width);

/// Puts the terminal into a mode without line buffering and echo during its lifetime. Does nothing
/// if the descriptor is not a terminal.
class KeyInput {
 public:
  explicit KeyInput(int fd);
  ~KeyInput();
  KeyInput(const KeyInput&) = delete;
  KeyInput& operator=(const KeyInput&) = delete;
  [[nodiscard]] bool is_on() const { return before_.has_value(); }
  [[nodiscard]] int fd() const { return fd_; }
  /// The keys pressed; empty if there are none.
  [[nodiscard]] std::string read();

 private:
  int fd_;
  std::optional<termios> before_;
};

class TextScreen {
 public:
  /// `out_fd` is the terminal, or -1.
  TextScreen(Sink& out, int out_fd);
  [[nodiscard]] bool is_terminal() const { return is_terminal_; }
  /// Table rows that fit below a heading.
  [[nodiscard]] size_t room() const;
  /// Shows a screen, which was written for `out`; `footer` goes on the last line of a terminal.
  void show(StringSink& screen, std::string_view footer);
  /// Changes the last line only.
  void show_footer(std::string_view footer);
  void leave();

 private:
  [[nodiscard]] std::pair<size_t, size_t> size() const;  // lines, columns
  Sink& out_;
  int out_fd_;
  bool is_terminal_;
};

}  // namespace sonde::tui
