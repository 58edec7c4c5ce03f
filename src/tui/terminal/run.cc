#include "tui/terminal/run.h"

namespace sonde::tui {

void draw_now(Terminal& terminal, const Pages& pages) {
  Terminal::Size size = terminal.size();
  terminal.show(pages.draw(size.rows, size.columns));
}

bool serve(Terminal& terminal, Pages& pages, int timeout_ms) {
  Terminal::Events events = terminal.wait(timeout_ms, pages.wake().fd());
  if (events.ended) return false;
  if (events.other) {
    pages.wake().clear();
    pages.on_wake();
  }
  for (const Key& key : events.keys) {
    pages.on_key(key);
    if (pages.ended()) return false;
  }
  return true;
}

void run(Terminal& terminal, Pages& pages) {
  if (pages.ended()) return;
  do draw_now(terminal, pages);
  while (serve(terminal, pages, -1));
}

}  // namespace sonde::tui
