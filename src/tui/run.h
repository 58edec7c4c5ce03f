// The loop of a browser: draw, wait for keys, hand them to the pages.
#pragma once

#include "tui/page.h"
#include "tui/terminal.h"

namespace sonde::tui {

/// Until the pages end, the terminal goes away, or a signal asks to end.
void run(Terminal& terminal, Pages& pages);

/// One round of that, for loops that wait for other things, too: hands over what has come, waiting
/// at most so long (milliseconds; -1: for ever). False where it is over.
bool serve(Terminal& terminal, Pages& pages, int timeout_ms);

/// Draws what the pages show now, for work that takes a moment.
void draw_now(Terminal& terminal, const Pages& pages);

}  // namespace sonde::tui
