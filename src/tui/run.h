// The loop of a browser: draw, wait for keys, hand them to the pages.
#pragma once

#include "tui/page.h"
#include "tui/terminal.h"

namespace sonde::tui {

/// Until the pages end, the terminal goes away, or a signal asks to end.
void run(Terminal& terminal, Pages& pages);

/// Draws what the pages show now, for work that takes a moment.
void draw_now(Terminal& terminal, const Pages& pages);

}  // namespace sonde::tui
