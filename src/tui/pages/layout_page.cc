#include "tui/pages/layout_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tui/pages/line_keys.h"
#include "tui/pages/text_page.h"

namespace sonde::tui {
namespace {

using Kind = view::DataLayoutRow::Kind;

constexpr size_t kTitleRows = 2, kOffsetWidth = 9, kMemberIndent = 4;

double share(uint64_t part, uint64_t all) {
  return all == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

std::string hexadecimal(uint64_t number) {
  return number == 0 ? "0" : fmt::format("{:#x}", number);
}

}  // namespace

LayoutPage::LayoutPage(const Theme& theme, view::DataLayout layout)
    : theme_(theme), layout_(std::move(layout)), view_(layout_) {}

size_t LayoutPage::value_width() const {
  return values_ == Values::kPeriod ? 15 : 9;
}

std::string LayoutPage::value_of(const view::ListingHits& hits,
                                 const view::ListingHits& total) const {
  if (hits.samples == 0) return {};
  switch (values_) {
    case Values::kSamples:
      return fmt::format("{}", hits.samples);
    case Values::kPeriod:
      return fmt::format("{}", hits.period);
    default:
      return fmt::format("{:.2f}", share(hits.period, total.period));
  }
}

void LayoutPage::draw_values(Grid& grid, size_t row, size_t at, const Style* cursor) const {
  size_t width = value_width();
  for (size_t event = 0; event < layout_.events.size(); ++event) {
    const view::ListingHits& hits = layout_.hits_of(at)[event];
    const view::ListingHits& total = layout_.totals[event];
    double percent = share(hits.period, total.period);
    grid.put(row, event * width, fmt::format("{:>{}}", value_of(hits, total), width - 1),
             cursor != nullptr ? *cursor : theme_.of_percent(percent));
  }
}

void LayoutPage::draw_line(Grid& grid, size_t row, size_t place) const {
  size_t at = view_.lines()[place];
  const view::DataLayoutRow& member = layout_.rows[at];
  bool is_cursor = place == view_.cursor();
  if (is_cursor) grid.fill(row, 0, grid.columns(), theme_.cursor);
  const Style& base = is_cursor ? theme_.cursor : theme_.plain;
  const Style& dim = is_cursor ? theme_.cursor : theme_.dim;
  size_t column = layout_.events.size() * value_width();
  bool closes = member.kind == Kind::kCloses, opens = member.kind == Kind::kOpens;
  if (!closes) {
    draw_values(grid, row, at, is_cursor ? &theme_.cursor : nullptr);
    grid.put(row, column,
             fmt::format("{:>{}} {:>{}}", hexadecimal(member.offset), kOffsetWidth,
                         hexadecimal(member.size), kOffsetWidth),
             dim);
  }
  column += 2 * kOffsetWidth + 3;
  bool is_open = opens && view_.is_open(at);
  std::string text(member.depth * kMemberIndent, ' ');
  text += opens ? (is_open ? "- " : "+ ") : "  ";
  if (closes) {
    text += "}";
  } else {
    text += member.type;
    if (!member.name.empty()) text += (text.ends_with('*') ? "" : " ") + member.name;
    if (opens) text += is_open ? " {" : " { ... }";
  }
  grid.put(row, column, std::string_view(text).substr(std::min(shift_, text.size())),
           closes ? dim : base);
}

void LayoutPage::draw_titles(Grid& grid) const {
  grid.fill(0, 0, grid.columns(), theme_.bar);
  std::string events = layout_.events[0];
  for (size_t i = 1; i < layout_.events.size(); ++i) events += ", " + layout_.events[i];
  grid.put(0, 1,
           fmt::format("{}  {}  {}, {} samples", layout_.type, layout_.object, events,
                       layout_.totals[0].samples),
           theme_.bar);
  grid.fill(1, 0, grid.columns(), theme_.titles);
  std::string_view title = values_ == Values::kPercent   ? "Percent"
                           : values_ == Values::kSamples ? "Samples"
                                                         : "Period";
  size_t width = value_width();
  for (size_t event = 0; event < layout_.events.size(); ++event)
    grid.put(1, event * width, fmt::format("{:>{}}", title, width - 1), theme_.titles);
  grid.put(1, layout_.events.size() * width,
           fmt::format("{:>{}} {:>{}}    Field", "Offset", kOffsetWidth, "Size", kOffsetWidth),
           theme_.titles);
}

void LayoutPage::draw(Grid& grid) {
  draw_titles(grid);
  view_.set_height(grid.rows() - 3);
  if (!std::exchange(was_drawn_, true)) view_.to_hot(1);
  for (size_t i = 0; i + 3 < grid.rows() && view_.top() + i < view_.lines().size(); ++i)
    draw_line(grid, kTitleRows + i, view_.top() + i);
  draw_foot(grid, theme_, "h help  H hottest  Enter unfold  t percent, samples  Esc back",
            view_.cursor(), view_.lines().size());
}

bool LayoutPage::fold_key(const Key& key) {
  if (key.kind == Key::Kind::kEnter || key.is('+') || key.is('-'))
    view_.toggle();
  else if (key.is('e') || key.is('c'))
    view_.open_all(key.is('e'));
  else if (key.is('H') || key.kind == Key::Kind::kTab || key.kind == Key::Kind::kBackTab)
    view_.to_hot(key.kind == Key::Kind::kBackTab ? -1 : 1);
  else
    return false;
  return true;
}

void LayoutPage::on_key(const Key& key, Pages& pages) {
  if (move_in_lines(key, view_, kTitleRows, shift_) || fold_key(key)) return;
  if (key.is('t'))
    values_ = values_ == Values::kPercent   ? Values::kSamples
              : values_ == Values::kSamples ? Values::kPeriod
                                            : Values::kPercent;
  else if (key.is('h') || key.is('?') || key.kind == Key::Kind::kF1)
    show_help(pages);
  else if (key.kind == Key::Kind::kEscape || key.is('q'))
    pages.pop();
}

void LayoutPage::show_help(Pages& pages) const {
  std::vector<std::string> lines = {
      "A type of data, with the samples that touched each of its fields",
      "  Up Down PgUp PgDn Home End  lines, pages, ends; Left Right: long lines",
      "  Enter + -        unfold or fold the current structure; e, c: all of them",
      "  H Tab Shift-Tab  the field with the most samples, then the next, the previous",
      "  t                percent, samples, or event counts",
      "  Esc q            back",
  };
  pages.push(std::make_unique<TextPage>(theme_, "type of data: keys", std::move(lines)));
}

}  // namespace sonde::tui
