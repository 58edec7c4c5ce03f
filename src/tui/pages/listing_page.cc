#include "tui/pages/listing_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "render/listing_columns.h"
#include "render/listing_text.h"
#include "tui/pages/line_keys.h"
#include "tui/pages/prompt.h"
#include "tui/pages/text_page.h"
#include "tui/terminal/glyphs.h"

namespace sonde::tui {
namespace {

using view::ListingFlow;
using view::ListingKind;

constexpr size_t kValueWidth = 8, kArrowWidth = 3;
constexpr size_t kIpcWidth = 6, kCyclesWidth = 6, kRangeWidth = 19;
constexpr std::string_view kCounterTitle = "Branch Counter";
/// Types are aligned in a column, unless an instruction is longer.
constexpr size_t kFurthestTypeColumn = 34;

std::string_view flow_mark(ListingFlow flow) {
  switch (flow) {
    case ListingFlow::kCall:
      return "→";
    case ListingFlow::kReturn:
      return "←";
    default:
      return " ";
  }
}

std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

}  // namespace

ListingPage::ListingPage(const Theme& theme, view::Listing listing, view::ListingPercent percent,
                         bool source, std::unique_ptr<TypesOfListing> types)
    : theme_(theme),
      listing_(std::move(listing)),
      view_(listing_, percent),
      types_(std::move(types)) {
  for (const view::ListingLine& line : listing_.lines)
    if (line.kind == ListingKind::kInstruction)
      address_width_ = std::max(address_width_, fmt::formatted_size("{:x}", line.address));
  if (!source) view_.show_source(false);
}

size_t ListingPage::arrow_column() const {
  size_t cycles = shows_range_ ? kIpcWidth + kRangeWidth : kIpcWidth + kCyclesWidth;
  if (listing_.counter_width > 0) cycles += counters_width();
  return listing_.events.size() * kValueWidth + (listing_.has_cycles ? cycles : 0) + 1;
}

size_t ListingPage::counters_width() const {
  return std::max(listing_.counter_width, kCounterTitle.size()) + 1;
}

void ListingPage::draw_cycles(Grid& grid, size_t row, size_t column,
                              const view::ListingBranches& branches, const Style& style) const {
  if (branches.ipc > 0)
    grid.put(row, column, fmt::format("{:{}.2f}", branches.ipc, kIpcWidth - 1), style);
  if (branches.cycles == 0) return;
  std::string text = fmt::format("{}", branches.cycles);
  if (shows_range_) text += fmt::format("({}/{})", branches.least_cycles, branches.most_cycles);
  size_t width = shows_range_ ? kRangeWidth : kCyclesWidth;
  grid.put(row, column + kIpcWidth, fmt::format("{:>{}}", text, width - 1), style);
  if (listing_.counter_width > 0)
    grid.put(row, column + kIpcWidth + width,
             fmt::format("{:>{}}", branches.counters, counters_width() - 1), style);
}

/// From the jump at the cursor to its target: ┌ ─ at one end, → at the other.
void ListingPage::draw_arrow(Grid& grid, size_t row, size_t place, size_t column) const {
  auto target = view_.jump_of(view_.cursor());
  if (!target || *target == view_.cursor()) return;
  auto [first, last] = std::minmax({view_.cursor(), *target});
  if (place < first || place > last) return;
  bool is_end = place == first || place == last;
  std::string_view corner = place == first ? "┌" : place == last ? "└" : "│";
  grid.put(row, column, corner, theme_.arrow);
  if (is_end) grid.put(row, column + 1, place == *target ? "→" : "─", theme_.arrow);
}

void ListingPage::draw_line(Grid& grid, size_t row, size_t place) const {
  size_t at = view_.lines()[place];
  const view::ListingLine& line = listing_.lines[at];
  bool is_cursor = place == view_.cursor();
  if (is_cursor) grid.fill(row, 0, grid.columns(), theme_.cursor);
  const Style& base = is_cursor ? theme_.cursor : theme_.plain;
  size_t arrow = arrow_column();
  size_t column = arrow + kArrowWidth;
  if (line.kind != ListingKind::kInstruction) {
    std::string text = line.text.empty() ? "" : fmt::format("{:<5} {}", line.number, line.text);
    grid.put(row, column, text.substr(std::min(shift_, text.size())),
             is_cursor ? base : theme_.source);
    return draw_arrow(grid, row, place, arrow);
  }
  for (size_t event = 0; event < listing_.events.size(); ++event)
    if (double percent = view_.percent(at, event); percent > 0)
      grid.put(row, event * kValueWidth, fmt::format("{:7.2f}", percent),
               is_cursor ? base : theme_.of_percent(percent));
  if (listing_.has_cycles)
    draw_cycles(grid, row, listing_.events.size() * kValueWidth, line.branches,
                is_cursor ? base : theme_.dim);
  column = grid.put(row, column, fmt::format("{:{}x}: ", line.address, address_width_),
                    is_cursor ? base : theme_.dim);
  column = grid.put(row, column, flow_mark(line.flow), is_cursor ? base : theme_.arrow) + 1;
  std::string text(trimmed(line.text));
  if (!line.target_name.empty() && text.find(line.target_name) == std::string::npos)
    text += "  <" + line.target_name + ">";
  size_t end =
      grid.put(row, column, std::string_view(text).substr(std::min(shift_, text.size())), base);
  if (shows_types_ && !line.data_type.empty()) {
    size_t type_column = std::max(end + 2, column + type_column_ - std::min(type_column_, shift_));
    grid.put(row, type_column, "# " + line.data_type, is_cursor ? base : theme_.note);
  }
  draw_arrow(grid, row, place, arrow);
}

void ListingPage::draw(Grid& grid) {
  grid.fill(0, 0, grid.columns(), theme_.bar);
  std::string title = fmt::format("{}  {}  {}, {} samples", listing_.function, listing_.object,
                                  listing_.events_name, listing_.events[0].function.samples);
  if (listing_.has_cycles) title += "  " + render::ipc_summary(listing_);
  grid.put(0, 1, title, theme_.bar);
  grid.fill(1, 0, grid.columns(), theme_.titles);
  size_t column = arrow_column() + kArrowWidth;
  grid.put(1, 0, "Percent", theme_.titles);
  if (listing_.has_cycles)
    grid.put(1, listing_.events.size() * kValueWidth,
             fmt::format("{:>{}} {:>{}}", "IPC", kIpcWidth - 1,
                         shows_range_ ? "Cycle(min/max)" : "Cycle",
                         (shows_range_ ? kRangeWidth : kCyclesWidth) - 1),
             theme_.titles);
  if (listing_.counter_width > 0)
    grid.put(1, arrow_column() - counters_width() - 1,
             fmt::format("{:>{}}", kCounterTitle, counters_width() - 1), theme_.titles);
  column = grid.put(1, column, view_.shows_source() ? "Source and instructions" : "Instructions",
                    theme_.titles);
  if (shows_types_) grid.put(1, column + 1, "[Type]", theme_.titles);
  view_.set_height(grid.rows() - 3);
  if (!std::exchange(was_drawn_, true)) view_.to_hot(1);  // only now is the middle known
  for (size_t i = 0; i + 3 < grid.rows() && view_.top() + i < view_.lines().size(); ++i)
    draw_line(grid, first_row_ + i, view_.top() + i);
  std::string_view waits = types_state_ == Types::kAwaited ? "looking for types …  " : "";
  std::string keys =
      fmt::format("{}percent: {} (t)   h help  H hottest  s source  T types  Esc back", waits,
                  render::percent_words(view_.percent_type()));
  draw_foot(grid, theme_, keys, view_.cursor(), view_.lines().size());
}

bool ListingPage::other_key(const Key& key, Pages& pages) {
  if (key.kind == Key::Kind::kEnter) {
    if (!view_.follow()) pages.say("no jump within this function");
  } else if (key.kind == Key::Kind::kBackspace || key.is('b')) {
    if (!view_.back()) pages.say("no jump was followed");
  } else if (key.is('H') || key.kind == Key::Kind::kTab || key.kind == Key::Kind::kBackTab) {
    view_.to_hot(key.kind == Key::Kind::kBackTab ? -1 : 1);
  } else if (key.is('s')) {
    view_.show_source(!view_.shows_source());
  } else if (key.is('c') && listing_.has_cycles) {
    shows_range_ = !shows_range_;
  } else if (key.is('B')) {
    show_counters(pages);
  } else if (key.is('t')) {
    view_.next_percent_type();
  } else if (key.is('T')) {
    if (!std::exchange(shows_types_, false)) show_types(pages);
  } else if (key.is('/') || key.is_control('f')) {
    ask_search(pages);
  } else if (key.is('n') || key.is('N')) {
    if (wanted_.matches_all() || !view_.search(wanted_, key.is('n') ? 1 : -1))
      pages.say("nothing found");
  } else if (key.is('h') || key.is('?') || key.kind == Key::Kind::kF1) {
    show_help(pages);
  } else {
    return false;
  }
  return true;
}

void ListingPage::on_key(const Key& key, Pages& pages) {
  if (move_in_lines(key, view_, first_row_, shift_) || other_key(key, pages)) return;
  if (key.kind == Key::Kind::kEscape || key.is('q')) pages.pop();
}

void ListingPage::show_counters(Pages& pages) const {
  if (listing_.counter_width == 0)
    return pages.say(
        "branches have no counters: record -j any,counter, where processors have them");
  std::vector<std::string> lines;
  for (std::string_view line : split(listing_.counter_legend, '\n'))
    lines.emplace_back(line.substr(std::min<size_t>(2, line.size())));
  pages.push(std::make_unique<TextPage>(theme_, "branch counters", std::move(lines)));
}

void ListingPage::show_types(Pages& pages) {
  if (types_state_ == Types::kNotAsked && types_) {
    types_->ask(listing_, pages.wake());
    types_state_ = Types::kAwaited;
  }
  if (types_state_ == Types::kAwaited) return;
  shows_types_ = no_types_.empty();
  if (!shows_types_) pages.say(no_types_);
}

void ListingPage::on_wake(Pages& pages) {
  if (types_state_ != Types::kAwaited) return;
  auto found = types_->take();
  if (!found) return;
  types_state_ = Types::kKnown;
  no_types_ = std::move(found->why_none);
  for (size_t i = 0; i < std::min(found->of_lines.size(), listing_.lines.size()); ++i) {
    view::ListingLine& line = listing_.lines[i];
    line.data_type = std::move(found->of_lines[i]);
    if (!line.data_type.empty())
      type_column_ = std::clamp(trimmed(line.text).size() + 2, type_column_, kFurthestTypeColumn);
  }
  show_types(pages);
}

void ListingPage::ask_search(Pages& pages) {
  pages.push(std::make_unique<Prompt>(
      theme_, "Search", "", false,
      Prompt::Hooks{.on_accept =
                        [this](const std::string& text, bool regex, Pages& to) {
                          auto match = TextMatch::make(
                              text, regex ? TextMatch::Kind::kRegex : TextMatch::Kind::kPiece);
                          if (!match) return to.say(match.error().message);
                          wanted_ = std::move(*match);
                          if (!view_.search(wanted_, 1)) to.say("no line has '" + text + "'");
                        },
                    .takes_regex = true}));
}

void ListingPage::show_help(Pages& pages) const {
  std::vector<std::string> lines = {
      "Code of a function",
      "  Up Down PgUp PgDn Home End  lines, pages, ends; Left Right: long lines",
      "  H Tab Shift-Tab  the hottest instruction, then the next hottest, the previous",
      "  Enter            follow the current jump; b, Backspace: back",
      "  s                source lines, or instructions only",
      "  T                show or hide the type and field that each instruction touches",
      "  c                of recorded branches: the least and the most cycles of each block",
      "  B                of recorded branches: the events that the letters of counters stand for",
      "  t                percentages of the function or of all, by period or by samples",
      "  / n N            search; next, previous",
      "  Esc q            back",
  };
  pages.push(std::make_unique<TextPage>(theme_, "code: keys", std::move(lines)));
}

}  // namespace sonde::tui
