#include "cmd/annotate/browser.h"

#include <unistd.h>
#include <algorithm>

#include "base/file.h"
#include "report/browser/code_pages.h"
#include "tui/pages/table_frame.h"
#include "tui/pages/table_keys.h"
#include "tui/pages/text_page.h"
#include "tui/terminal/browser_terminal.h"
#include "tui/terminal/run.h"

namespace sonde::annotation {
namespace {

using annotate::RecordingHits;
using tui::Key;
using tui::Pages;

/// For one event, or for a group by its leader.
struct FunctionTable {
  std::vector<EventId> events;
  std::vector<size_t> functions;  // index into the hits, by row
  view::Table table;
  std::unique_ptr<tui::TableView> view;
};

view::Column column(std::string name, std::string title, view::Column::Kind kind, size_t width) {
  view::Column made;
  made.name = std::move(name);
  made.width = std::max(title.size(), width);
  made.title = std::move(title);
  made.kind = kind;
  return made;
}

FunctionTable make_table(const Session& session, const RecordingHits& hits,
                         const std::vector<EventId>& events, double limit) {
  FunctionTable made;
  made.events = events;
  size_t leader = events[0].index(), widest = 0;
  view::Table& table = made.table;
  double all = static_cast<double>(std::max<uint64_t>(hits.totals[leader].period, 1));
  for (size_t function : hits.by_weight(leader)) {
    const annotate::FunctionHits& found = hits.functions[function];
    double percent = 100 * static_cast<double>(found.totals[leader].period) / all;
    if (percent < limit) continue;
    const std::string& object = session.machine().dsos()[found.info.dso].short_name;
    widest = std::max(widest, object.size());
    table.add_percent(percent);
    table.add_number(found.totals[leader].samples);
    table.text_buffer() += object;
    table.add_text();
    table.text_buffer() += found.info.name;
    table.add_text();
    table.end_row();
    made.functions.push_back(function);
  }
  using Kind = view::Column::Kind;
  constexpr size_t kPercentWidth = 8, kSamplesWidth = 12;
  table.columns = {column("overhead", "Overhead", Kind::kPercent, kPercentWidth),
                   column("sample", "Samples", Kind::kNumber, kSamplesWidth),
                   column("dso", "Shared Object", Kind::kText, widest),
                   column("symbol", "Symbol", Kind::kText, 0)};
  table.columns[1].value_width = kSamplesWidth;
  return made;
}

class FunctionsPage final : public tui::Page {
 public:
  FunctionsPage(const Session& session, const RecordingHits& hits,
                const std::vector<std::vector<EventId>>& events, const Options& options,
                const tui::Theme& theme)
      : session_(session), hits_(hits), code_(session, options.listing, theme), screen_(theme) {
    for (const std::vector<EventId>& members : events)
      if (hits.totals[members[0].index()].samples > 0)
        tables_.push_back(make_table(session, hits, members, options.percent_limit));
    code_.show_types(options.code_types);
    for (FunctionTable& made : tables_) made.view = std::make_unique<tui::TableView>(made.table);
  }

  void draw(tui::Grid& grid) override {
    FunctionTable& now = tables_[at_];
    std::string line =
        fmt::format("Functions with samples of '{}'", session_.events()[now.events[0]].name);
    if (tables_.size() > 1) line = fmt::format("[{}/{} Tab] {}", at_ + 1, tables_.size(), line);
    draw_bar(grid, screen_.theme, line, "");
    screen_.painter.draw(grid, 1, grid.rows() - 2, *now.view, screen_.shift);
    draw_table_status(grid, screen_.theme, *now.view, "",
                      "Enter its code  / filter  h help  q quit");
  }

  void on_key(const Key& key, Pages& pages) override {
    FunctionTable& now = tables_[at_];
    if (key.is('q') || key.is('Q'))
      pages.quit();
    else if (key.kind == Key::Kind::kEnter || key.is('a'))
      open(pages);
    else if (key.kind == Key::Kind::kTab)
      at_ = (at_ + 1) % tables_.size();
    else if (key.kind == Key::Kind::kEscape)
      now.view->filter({});
    else if (key.is('h') || key.is('?') || key.kind == Key::Kind::kF1)
      show_help(pages);
    else
      tui::table_key(key, *now.view, screen_, pages);
  }

  void open(Pages& pages) {
    FunctionTable& now = tables_[at_];
    if (now.view->empty()) return;
    size_t row = now.view->row_at(now.view->cursor());
    code_.open(hits_.functions[now.functions[row]], hits_, now.events, pages);
  }

 private:
  void show_help(Pages& pages) {
    std::vector<std::string> lines = tui::table_key_help();
    lines.emplace_back("Functions");
    lines.emplace_back("  Enter a          the code of the function at hand");
    lines.emplace_back("  Tab              the next event");
    lines.emplace_back("  q Ctrl-C         quit");
    pages.push(std::make_unique<tui::TextPage>(screen_.theme, "annotate: keys", std::move(lines)));
  }

  const Session& session_;
  const RecordingHits& hits_;
  CodePages code_;
  tui::TableScreen screen_;
  std::vector<FunctionTable> tables_;
  size_t at_ = 0;
};

}  // namespace

Result<int> browse(const Session& session, const RecordingHits& hits,
                   const std::vector<std::vector<EventId>>& events, const Options& options,
                   Env& env) {
  BrowserTerminal terminal = TRY(BrowserTerminal::open(env));
  auto page = std::make_unique<FunctionsPage>(session, hits, events, options, terminal.theme());
  FunctionsPage& functions = *page;
  Pages pages;
  pages.push(std::move(page));
  if (options.symbol) functions.open(pages);
  tui::run(terminal.terminal(), pages);
  return 0;
}

}  // namespace sonde::annotation
