#include "tui/run.h"

namespace sonde::tui {

void draw_now(Terminal& terminal, const Pages& pages) {
  Terminal::Size size = terminal.size();
  terminal.show(pages.draw(size.rows, size.columns));
}

void run(Terminal& terminal, Pages& pages) {
  while (!pages.ended()) {
    draw_now(terminal, pages);
    Terminal::Events events = terminal.wait(-1);
    if (events.ended) return;
    for (const Key& key : events.keys) {
      pages.on_key(key);
      if (pages.ended()) return;
    }
  }
}

}  // namespace sonde::tui
