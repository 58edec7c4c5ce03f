// What must be undone on the terminal however the program ends, and the signals that end it.
//
// Signal handlers reach nothing but globals, so this is the one place in the browser that has some:
// written before handlers are installed, only read by them.
#pragma once

#include <termios.h>

#include "base/error.h"

namespace sonde::tui {

/// Saves the settings of the terminal, makes keys come one by one, and installs the handlers.
Result<> take_terminal(int in_fd, int out_fd);
/// Undoes all of it; nothing where it is not taken.
void give_terminal_back();
/// As before take_terminal and after it, for the time of a stop.
void leave_for_stop();
void come_back();
/// Each byte that can be read here is the number of a signal that came.
[[nodiscard]] int signal_pipe();

}  // namespace sonde::tui
