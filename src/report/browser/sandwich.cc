#include "report/browser/sandwich.h"

#include <algorithm>

#include "report/data.h"
#include "tui/pages/table_frame.h"
#include "tui/pages/table_keys.h"

namespace sonde::report {
namespace {

/// The columns needed to show two trees side by side.
constexpr size_t kWide = 100;
constexpr size_t kPercentWidth = 8;

/// Only the function's row, with its tree.
view::Table table_of(const EventReport& report, const std::string& function, std::string title) {
  const EventReport::Data& data = *report.data;
  view::Table made;
  made.columns.resize(2);
  made.columns[0].title = "Children";
  made.columns[0].kind = view::Column::Kind::kPercent;
  made.columns[0].width = kPercentWidth;
  made.columns[1].width = std::max(title.size(), function.size());
  made.columns[1].title = std::move(title);
  made.graph = report.table.graph;
  for (size_t row = 0; row < report.table.rows(); ++row) {
    const Frame& frame = frame_of_row(data, data.rows->any(data.table_rows[row]));
    if (!frame.symbol.valid() || data.input.symbols.name(frame.symbol) != function) continue;
    made.add_percent(report.table.percent(row, 0));
    made.text_buffer() += function;
    made.add_text();
    made.end_row();
    made.tree = [tree = report.table.tree, row](size_t) { return tree(row); };
    break;
  }
  return made;
}

class SandwichPage final : public tui::Page {
 public:
  SandwichPage(const tui::Theme& theme, Sandwich sandwich, size_t event)
      : theme_(theme), resting_(theme), function_(std::move(sandwich.function)) {
    resting_.cursor = theme.titles;
    add(std::move(sandwich.callers), event, "Callers");
    add(std::move(sandwich.callees), event, "Callees");
  }

  void draw(tui::Grid& grid) override {
    draw_bar(grid, theme_, "Callers and callees of " + function_, "");
    both_ = grid.columns() >= kWide;
    if (both_) {
      half_ = grid.columns() / 2;
      for (size_t i = 0; i < sides_.size(); ++i) draw_side(grid, i, i * (half_ + 1), half_ - 1 + i);
      for (size_t row = 1; row + 1 < grid.rows(); ++row) grid.put(row, half_, "│", theme_.frame);
    } else {
      draw_side(grid, at_, 0, grid.columns());
    }
    draw_table_status(grid, theme_, sides_[at_]->view, "",
                      "Tab the other side  Enter unfold  e c all  Esc back");
  }

  void on_key(const tui::Key& key, tui::Pages& pages) override {
    using Kind = tui::Key::Kind;
    if (key.kind == Kind::kEscape || key.is('q')) return pages.pop();
    if (key.kind == Kind::kTab || key.kind == Kind::kBackTab) {
      at_ = 1 - at_;
      return;
    }
    tui::Key own = key;
    if (key.kind == Kind::kPress) {
      if (both_) at_ = key.column > half_ ? 1 : 0;
      if (both_ && at_ == 1) own.column -= half_ + 1;
      own.row -= std::min<size_t>(own.row, 1);
    }
    tui::table_key(own, sides_[at_]->view, sides_[at_]->screen, pages);
  }

 private:
  struct Side {
    Side(std::unique_ptr<ReportLevel> made, view::Table shown, const tui::Theme& theme,
         const tui::Theme& quiet)
        : level(std::move(made)),
          table(std::move(shown)),
          view(table),
          screen(theme),
          resting(quiet) {}
    std::unique_ptr<ReportLevel> level;  // the tree's
    view::Table table;
    tui::TableView view;
    tui::TableScreen screen;
    tui::TablePainter resting;  // while keys go to the other side
  };

  void add(std::unique_ptr<ReportLevel> level, size_t event, std::string title) {
    level->show_event(std::min(event, level->events() - 1));
    view::Table table = table_of(level->report(), function_, std::move(title));
    sides_.push_back(std::make_unique<Side>(std::move(level), std::move(table), theme_, resting_));
    sides_.back()->view.open_all(true);
  }

  void draw_side(tui::Grid& grid, size_t side, size_t column, size_t width) {
    tui::Grid part(grid.rows() - 2, width);
    Side& shown = *sides_[side];
    tui::TablePainter& painter = side == at_ ? shown.screen.painter : shown.resting;
    painter.draw(part, 0, part.rows(), shown.view, shown.screen.shift);
    grid.place(1, column, part);
  }

  const tui::Theme& theme_;
  tui::Theme resting_;
  std::string function_;
  std::vector<std::unique_ptr<Side>> sides_;
  size_t at_ = 0, half_ = 0;
  bool both_ = false;
};

}  // namespace

Result<Sandwich> make_sandwich(const OpenRecording& recording, ReportOptions options,
                               std::string function, std::string_view tool) {
  options.sort = "sym";
  options.fields.reset();
  options.hierarchy = false;
  options.children = true;
  options.percent_limit = 0;
  options.inverted = false;
  options.call_graph.order_given = true;
  options.call_graph.caller_order = false;
  Sandwich made{.function = std::move(function), .callers = {}, .callees = {}};
  made.callers = TRY(ReportLevel::make(recording, options, tool));
  options.call_graph.caller_order = true;
  made.callees = TRY(ReportLevel::make(recording, std::move(options), tool));
  return made;
}

std::unique_ptr<tui::Page> sandwich_page(const tui::Theme& theme, Sandwich sandwich, size_t event) {
  return std::make_unique<SandwichPage>(theme, std::move(sandwich), event);
}

}  // namespace sonde::report
