// The terminal of a browser: while a Terminal lives, keys arrive unbuffered and without echo, and
// drawing goes to the alternate screen. However the program ends or stops (destructor, fatal
// signal, crash, Ctrl-Z), the terminal's state is restored.
//
//   Terminal terminal = TRY(Terminal::open(env.out, in_fd, out_fd, variable));
//   for (;;) { terminal.show(grid); for (const Key& key : terminal.wait(-1).keys) … }
//
// Sequences used: ECMA-48, and xterm's private modes 25 (cursor), 1000 and 1006 (mouse), 1049
// (alternate screen).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/sink.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/screen_writer.h"

namespace sonde::tui {

class Terminal {
 public:
  /// Keys are read from `in_fd`; `out` writes to `out_fd`, a terminal. At most one instance per
  /// process: signals belong to the process.
  static Result<std::unique_ptr<Terminal>> open(Sink& out, int in_fd, int out_fd,
                                                const Variables& variable);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  struct Size {
    size_t rows, columns;
  };
  [[nodiscard]] Size size() const;
  [[nodiscard]] ColorDepth colors() const { return colors_; }

  /// Shows a grid. A failed write means that the terminal went away: see `ended`.
  void show(Grid grid);

  struct Events {
    std::vector<Key> keys;
    bool must_redraw = false;  // resized, or resumed by the shell
    bool ended = false;        // the terminal went away, or a signal asks to end
    bool other = false;        // the other descriptor is readable
  };
  /// Waits for a key, a signal, another descriptor or the timeout (milliseconds; -1: forever).
  [[nodiscard]] Events wait(int timeout_ms, int other_fd = -1);
  /// The descriptors whose input wait() would consume, for external loops.
  [[nodiscard]] int key_fd() const { return in_fd_; }
  [[nodiscard]] int signal_fd() const;
  /// Ctrl-Z: restores the terminal, stops, and takes it again when the shell continues us.
  void suspend();

 private:
  Terminal(Sink& out, int in_fd, int out_fd, const Variables& variable);
  Result<> enter();
  void take_signals(Events& events);
  void take_keys(Events& events);

  Sink& out_;
  int in_fd_, out_fd_;
  ColorDepth colors_;
  ScreenWriter writer_;
  KeyDecoder decoder_;
};

/// Whether a browser can be shown: a terminal that understands escape sequences.
[[nodiscard]] bool can_show(int out_fd, const Variables& variable);

}  // namespace sonde::tui
