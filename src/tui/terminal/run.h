// The main loop of a browser: draw, wait for keys, pass them to the pages.
#pragma once

#include "tui/pages/page.h"
#include "tui/terminal/terminal.h"

namespace sonde::tui {

/// Runs until the pages end, the terminal goes away, or a signal asks to end.
void run(Terminal& terminal, Pages& pages);

/// One iteration, for loops that also wait for other things: dispatches what has arrived, waiting
/// at most `timeout_ms` (-1: forever). False when it is over.
bool serve(Terminal& terminal, Pages& pages, int timeout_ms);

/// Redraws the pages now, before work that takes a moment.
void draw_now(Terminal& terminal, const Pages& pages);

}  // namespace sonde::tui
