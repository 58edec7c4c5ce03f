// The terminal that a browser holds: while a Terminal lives, keys come unread and without echo, and
// drawing goes to the alternate screen. However the program ends (destructor, a deadly signal, a
// crash, Ctrl-Z), the terminal is given back as it was.
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
#include "tui/keys.h"
#include "tui/screen_writer.h"

namespace sonde::tui {

class Terminal {
 public:
  /// `in_fd` gives the keys, `out` writes to `out_fd`, a terminal. One at a time in a process:
  /// signals belong to the process.
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

  /// Shows a grid. What cannot be written any more is a terminal that went away: see `ended`.
  void show(Grid grid);

  struct Events {
    std::vector<Key> keys;
    bool must_redraw = false;  // other size, or back from the shell
    bool ended = false;        // the terminal went away, or a signal asks to end
    bool other = false;        // the other descriptor has something
  };
  /// Waits for a key, a signal, another descriptor or the time (milliseconds; -1: for ever).
  [[nodiscard]] Events wait(int timeout_ms, int other_fd = -1);
  /// Descriptors on which something comes that wait() would take, for loops of others.
  [[nodiscard]] int key_fd() const { return in_fd_; }
  [[nodiscard]] int signal_fd() const;
  /// Ctrl-Z: gives the terminal back, stops, and takes it again when the shell goes on.
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

/// Whether a browser can be shown: a terminal that understands sequences.
[[nodiscard]] bool can_show(int out_fd, const Variables& variable);

}  // namespace sonde::tui
