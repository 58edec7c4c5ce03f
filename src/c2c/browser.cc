#include "c2c/browser.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tui/pages/text_page.h"
#include "tui/terminal/browser_terminal.h"
#include "tui/terminal/run.h"

namespace sonde::c2c {
namespace {

using tui::Grid;
using tui::Key;
using tui::Pages;

constexpr size_t kSideStep = 8;

std::vector<std::string> lines_of(const std::function<void(Sink&)>& write) {
  StringSink sink;
  write(sink);
  std::vector<std::string> lines;
  std::string_view text = sink.text();
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

/// Lines below titles, which stay in place; wider than the screen if need be.
struct Listing {
  std::string bar;
  std::vector<std::string> titles, lines;
};

/// What both pages have: a listing, a cursor, and scrolling in both directions.
class ListingPage : public tui::Page {
 public:
  explicit ListingPage(const tui::Theme& theme) : theme_(theme) {}

  void draw(Grid& grid) override {
    grid.fill(0, 0, grid.columns(), theme_.bar);
    grid.put(0, 1, shown_.bar, theme_.bar);
    for (size_t i = 0; i < shown_.titles.size(); ++i)
      grid.put(1 + i, 0, from_side(shown_.titles[i]), theme_.titles);
    size_t above = 1 + shown_.titles.size();
    height_ = grid.rows() > above + 1 ? grid.rows() - above - 1 : 1;
    top_ = std::min(top_, cursor_);
    if (cursor_ >= top_ + height_) top_ = cursor_ + 1 - height_;
    for (size_t i = 0; i < height_ && top_ + i < shown_.lines.size(); ++i) {
      bool is_here = top_ + i == cursor_;
      if (is_here) grid.fill(above + i, 0, grid.columns(), theme_.cursor);
      grid.put(above + i, 0, from_side(shown_.lines[top_ + i]),
               is_here ? theme_.cursor : theme_.plain);
    }
    grid.put(grid.rows() - 1, 1, hint(), theme_.dim);
  }

  void on_key(const Key& key, Pages& pages) override {
    switch (key.kind) {
      case Key::Kind::kUp:
      case Key::Kind::kWheelUp:
        return move_to(cursor_ - std::min<size_t>(cursor_, 1));
      case Key::Kind::kDown:
      case Key::Kind::kWheelDown:
        return move_to(cursor_ + 1);
      case Key::Kind::kPageUp:
        return move_to(cursor_ - std::min(cursor_, height_));
      case Key::Kind::kPageDown:
        return move_to(cursor_ + height_);
      case Key::Kind::kHome:
        return move_to(0);
      case Key::Kind::kEnd:
        return move_to(shown_.lines.size());
      case Key::Kind::kLeft:
        side_ -= std::min(side_, kSideStep);
        return;
      case Key::Kind::kRight:
        side_ += kSideStep;
        return;
      case Key::Kind::kEscape:
        return pages.pop();
      default:
        if (key.is('q')) return pages.pop();
        on_other_key(key, pages);
    }
  }

 protected:
  [[nodiscard]] virtual std::string_view hint() const = 0;
  virtual void on_other_key(const Key& key, Pages& pages) = 0;
  void show(Listing listing) {
    shown_ = std::move(listing);
    move_to(cursor_);
  }
  [[nodiscard]] size_t cursor() const { return cursor_; }
  [[nodiscard]] const tui::Theme& theme() const { return theme_; }
  [[nodiscard]] bool is_empty() const { return shown_.lines.empty(); }

 private:
  void move_to(size_t line) {
    cursor_ = std::min(line, shown_.lines.empty() ? 0 : shown_.lines.size() - 1);
  }
  [[nodiscard]] std::string_view from_side(std::string_view text) const {
    return text.substr(std::min(side_, text.size()));
  }

  const tui::Theme& theme_;
  Listing shown_;
  size_t cursor_ = 0, top_ = 0, side_ = 0, height_ = 1;
};

struct Browsed {
  const CacheLines& lines;
  const Named& named;
  const Nodes& nodes;
  Options options;
};

constexpr size_t kTitleLines = 3;  // and an empty comment

/// Takes the titles that a table begins with out of `lines`.
std::vector<std::string> take_titles(std::vector<std::string>& lines) {
  auto count = static_cast<std::ptrdiff_t>(std::min(lines.size(), kTitleLines));
  std::vector<std::string> titles(lines.begin(), lines.begin() + count);
  lines.erase(lines.begin(),
              lines.begin() + static_cast<std::ptrdiff_t>(std::min(lines.size(), kTitleLines + 1)));
  return titles;
}

/// The rows of one line.
class RowsPage final : public ListingPage {
 public:
  RowsPage(const tui::Theme& theme, Browsed& browsed, size_t index)
      : ListingPage(theme), browsed_(browsed), index_(index) {
    fill();
  }

 private:
  [[nodiscard]] std::string_view hint() const override {
    return "←→: scroll   n: nodes   q, Esc: back";
  }
  void on_other_key(const Key& key, Pages& /*pages*/) override {
    if (!key.is('n')) return;
    auto next = (static_cast<int>(browsed_.options.node_info) + 1) % 3;
    browsed_.options.node_info = static_cast<NodeInfo>(next);
    fill();
  }
  void fill() {
    Listing listing;
    listing.bar = fmt::format("Cacheline {:#x}", browsed_.lines.lines[index_].address);
    listing.lines = lines_of([this](Sink& out) {
      write_line_rows(browsed_.lines, index_, browsed_.named, browsed_.nodes, browsed_.options,
                      out);
    });
    listing.titles = take_titles(listing.lines);
    show(std::move(listing));
  }

  Browsed& browsed_;
  size_t index_;
};

/// The table of lines.
class LinesPage final : public ListingPage {
 public:
  LinesPage(const tui::Theme& theme, Browsed browsed)
      : ListingPage(theme), browsed_(std::move(browsed)) {
    Listing listing;
    listing.bar =
        fmt::format("Shared Data Cache Line Table     ({} entries)", browsed_.lines.lines.size());
    listing.lines = lines_of([this](Sink& out) {
      write_line_table(browsed_.lines, browsed_.named, browsed_.nodes, browsed_.options, out);
    });
    listing.titles = take_titles(listing.lines);
    show(std::move(listing));
  }

 private:
  [[nodiscard]] std::string_view hint() const override {
    return "Enter, d: rows   s: counts   ←→: scroll   ?: keys   q: quit";
  }
  void on_other_key(const Key& key, Pages& pages) override {
    if ((key.kind == Key::Kind::kEnter || key.is('d')) && !is_empty())
      pages.push(std::make_unique<RowsPage>(theme(), browsed_, cursor()));
    else if (key.is('s'))
      pages.push(std::make_unique<tui::TextPage>(
          theme(), "c2c: counts",
          lines_of([this](Sink& out) { write_counts(browsed_.lines, out); })));
    else if (key.is('?') || key.is('h'))
      pages.push(std::make_unique<tui::TextPage>(theme(), "c2c: keys", help()));
  }
  static std::vector<std::string> help() {
    return {"In the table of lines",
            "  Enter, d  rows of the line: offsets, code, latencies, nodes",
            "  s         counts of all accesses",
            "In the rows of a line",
            "  n         next view of the nodes: numbers, shares, CPUs",
            "Everywhere",
            "  ↑ ↓       move; also PgUp, PgDn, Home, End",
            "  ← →       scroll sideways",
            "  q, Esc    back; at last, leave"};
  }

  Browsed browsed_;
};

}  // namespace

Result<int> browse(const CacheLines& lines, const Named& named, const Nodes& nodes, Options options,
                   Env& env) {
  BrowserTerminal terminal = TRY(BrowserTerminal::open(env));
  Pages pages;
  pages.push(std::make_unique<LinesPage>(terminal.theme(),
                                         Browsed{lines, named, nodes, std::move(options)}));
  tui::run(terminal.terminal(), pages);
  return 0;
}

}  // namespace sonde::c2c
