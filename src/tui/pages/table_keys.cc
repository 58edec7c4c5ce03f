#include "tui/pages/table_keys.h"

#include <fmt/format.h>

#include "tui/pages/line_keys.h"

namespace sonde::tui {
namespace {

bool moves(const Key& key, TableView& view, TableScreen& screen) {
  if (move_by_key(key, view, screen.shift)) return true;
  if (key.is('j')) view.move(1);
  return key.is('j');
}

void press(const Key& key, TableView& view, TableScreen& screen) {
  auto place = screen.painter.place_at(key.row, view);
  if (!place) return;
  bool was_there = *place == view.cursor();
  view.to(*place);
  if (was_there || key.column < 2) view.toggle();
}

/// Cycles the sort column; after the last one comes the table's own order.
void sort_next(TableView& view, bool forward) {
  size_t columns = view.table().columns.size();
  auto now = view.choice().sorting();
  size_t at = now ? now->column + 1 : 0;  // 0: the table's own order
  size_t next = (at + (forward ? 1 : columns)) % (columns + 1);
  if (next == 0)
    view.sort(std::nullopt);
  else
    view.sort(RowSelection::Sorting{next - 1, false});
}

void reverse(TableView& view) {
  auto sorting = view.choice().sorting().value_or(RowSelection::Sorting{});
  sorting.reversed = !sorting.reversed;
  view.sort(sorting);
}

bool sorts(const Key& key, TableView& view) {
  if (key.is('>') || key.is('<'))
    sort_next(view, key.is('>'));
  else if (key.is('R'))
    reverse(view);
  else
    return false;
  return true;
}

bool unfolds(const Key& key, TableView& view) {
  if (key.kind == Key::Kind::kEnter || key.is('+') || key.is('-'))
    view.toggle();
  else if (key.is('*'))
    view.open_row(true);
  else if (key.is('e') || key.is('E'))
    view.open_all(true);
  else if (key.is('c') || key.is('C'))
    view.open_all(false);
  else if (key.is('H'))
    view.open_hottest();
  else
    return false;
  return true;
}

std::string filter_remark(const TableView& view) {
  return fmt::format("{} of {} rows", view.choice().matches(), view.table().rows());
}

TextMatch::Kind kind_of(bool regex) {
  return regex ? TextMatch::Kind::kRegex : TextMatch::Kind::kPiece;
}

void ask_filter(TableView& view, TableScreen& screen, Pages& pages) {
  TextMatch before = view.choice().match();
  bool regex = before.kind() == TextMatch::Kind::kRegex;
  std::string pattern = before.pattern();
  pages.push(std::make_unique<Prompt>(
      screen.theme, "Filter", pattern, regex,
      Prompt::Hooks{.on_change = [&view](const std::string& text, bool is_regex) -> std::string {
                      auto match = TextMatch::make(text, kind_of(is_regex));
                      if (!match) return match.error().message;
                      view.filter(std::move(*match));
                      return filter_remark(view);
                    },
                    .on_cancel = [&view, before] { view.filter(before); },
                    .takes_regex = true}));
}

size_t count_matches(const TableView& view, const TextMatch& match) {
  size_t found = 0;
  for (uint32_t row : view.choice().rows()) found += view.matches(row, match) ? 1 : 0;
  return found;
}

void ask_search(TableView& view, TableScreen& screen, Pages& pages) {
  TableView::Place before = view.cursor();
  pages.push(std::make_unique<Prompt>(
      screen.theme, "Search", "", false,
      Prompt::Hooks{.on_change = [&view, &screen, before](const std::string& text,
                                                          bool is_regex) -> std::string {
                      auto match = TextMatch::make(text, kind_of(is_regex));
                      if (!match) return match.error().message;
                      screen.wanted = *match;
                      view.to(before);
                      if (text.empty()) return "";
                      size_t found = count_matches(view, *match);
                      if (found > 0 && !view.matches(view.row_at(view.cursor()), *match))
                        view.search(*match, 1);
                      return fmt::format("{} match{}", found, found == 1 ? "" : "es");
                    },
                    .on_cancel = [&view, before] { view.to(before); },
                    .takes_regex = true}));
}

bool looks(const Key& key, TableView& view, TableScreen& screen, Pages& pages) {
  if (key.is('/')) {
    ask_filter(view, screen, pages);
  } else if (key.is_control('f')) {
    ask_search(view, screen, pages);
  } else if (key.is('n') || key.is('N')) {
    if (screen.wanted.matches_all())
      pages.say("no search yet: Ctrl-F");
    else if (!view.search(screen.wanted, key.is('n') ? 1 : -1))
      pages.say("no row has '" + screen.wanted.pattern() + "'");
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool table_key(const Key& key, TableView& view, TableScreen& screen, Pages& pages) {
  if (key.kind == Key::Kind::kPress) {
    press(key, view, screen);
    return true;
  }
  return moves(key, view, screen) || unfolds(key, view) || sorts(key, view) ||
         looks(key, view, screen, pages);
}

std::vector<std::string> table_key_help() {
  return {
      "Moving",
      "  Up Down PgUp PgDn Home End Space  lines, pages, ends; also by mouse",
      "  Left Right       scroll sideways",
      "Unfolding",
      "  Enter +          the current row or call, one level",
      "  *                everything below the row",
      "  e E              everything",
      "  c C              fold everything",
      "  H                follow the hottest calls to their end",
      "Rows",
      "  /                filter as you type, by any text of a row; Ctrl-R: as a regex",
      "  Ctrl-F           search; n, N: next, previous",
      "  < >              sort by the previous, next column; R: reverse order",
  };
}

}  // namespace sonde::tui
