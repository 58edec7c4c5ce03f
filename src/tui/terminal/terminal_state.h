// What must be undone on the terminal however the program ends, and the fatal signals.
//
// Signal handlers can only reach globals, so this is the one place in the browser that has any:
// they are written before the handlers are installed, and only read by them.
#pragma once

#include <termios.h>

#include "base/error.h"

namespace sonde::tui {

/// Saves the terminal's settings, turns off line buffering, and installs the handlers.
Result<> take_terminal(int in_fd, int out_fd);
/// Undoes all of it; does nothing if the terminal is not taken.
void give_terminal_back();
/// Switch to the settings before take_terminal and back again, around a stop.
void leave_for_stop();
void come_back();
/// A descriptor; each byte read from it is the number of a signal that arrived.
[[nodiscard]] int signal_pipe();

}  // namespace sonde::tui
