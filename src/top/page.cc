#include "top/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/option_values.h"
#include "base/text.h"
#include "report/browser/code_pages.h"
#include "tui/pages/menu.h"
#include "tui/pages/table_frame.h"
#include "tui/pages/text_page.h"
#include "tui/terminal/run.h"

namespace sonde::top {

using tui::Key;
using tui::Pages;

// --- tables ---

LivePage::Standings LivePage::leave() {
  Standings standings;
  for (const auto& shown : tables_) standings.push_back(shown->view.leave());
  return standings;
}

void LivePage::show(const Standings& standings) {
  std::vector<LiveTable> next = profile_.tables(SIZE_MAX);
  for (size_t i = 0; i < next.size(); ++i) {
    if (i == tables_.size()) {
      tables_.push_back(std::make_unique<Shown>(std::move(next[i])));
    } else {
      tables_[i]->live = std::move(next[i]);
      tables_[i]->view.show(tables_[i]->live.table, standings[i]);
    }
    tables_[i]->view.limit(o_.entries == 0 ? SIZE_MAX : o_.entries);
  }
  tables_.resize(next.size());
  if (at_ >= tables_.size()) at_ = 0;
}

Result<> LivePage::refresh() {
  if (paused_) {
    profile_.pass_over();
    return {};
  }
  Standings standings = leave();
  TRY(profile_.next_interval());
  show(standings);
  return {};
}

void LivePage::remake(Pages& pages) {
  Standings standings = leave();
  if (Result<> made = profile_.remake(); !made) pages.say(made.error().message);
  show(standings);
}

/// Shows other rows of what is already counted.
void LivePage::change_rows(Pages& pages, std::string note) {
  if (o_.starts_anew())
    remake(pages);
  else
    show(leave());
  pages.say(std::move(note));
}

// --- drawing ---

const EventDesc& LivePage::event() const {
  return profile_.session().events()[tables_[at_]->live.event];
}

std::string LivePage::bar_text() const {
  if (tables_.empty()) return "waiting for the first samples";
  const TopFigures& figures = profile_.figures();
  std::string line = has_ended_ ? "ended: " : paused_ ? "paused: " : "";
  if (tables_.size() > 1) line = fmt::format("[{}/{} Tab] {}", at_ + 1, tables_.size(), line);
  line += fmt::format("{:.0f} samples/s {} '{}'", figures.rate(),
                      tables_.size() > 1 ? "in all," : "of", event().name);
  const auto& attr = event().attr;
  line += attr.freq != 0 ? fmt::format(" at {} Hz", attr.sample_period)
                         : fmt::format(" every {}", attr.sample_period);
  line += fmt::format(", kernel {:.1f}%", figures.kernel_percent());
  if (figures.exact > 0) line += fmt::format(", exact {:.1f}%", figures.exact_percent());
  if (uint64_t lost = figures.lost_before + figures.lost; lost > 0)
    line += fmt::format(", lost {}/{}", figures.lost, lost);
  return line;
}

/// "all, 2 CPUs".
std::string LivePage::target_text() const {
  std::string_view text = trim(profile_.figures().target);
  if (text.starts_with('(')) text.remove_prefix(1);
  if (text.ends_with(')')) text.remove_suffix(1);
  constexpr std::string_view kPerfsWord = "target_";
  if (text.starts_with(kPerfsWord)) text.remove_prefix(kPerfsWord.size());
  return fmt::format("{}, {:g} s", text, o_.delay_s);
}

std::string LivePage::state_text() const {
  std::string state;
  auto add = [&](bool holds, std::string_view text) {
    if (holds) state += fmt::format("{}{}", state.empty() ? "" : " · ", text);
  };
  add(o_.hide_kernel, "without the kernel");
  add(o_.hide_user, "without programs");
  const TopFigures& figures = profile_.figures();
  add(figures.idle > 0,
      fmt::format("idle {:.1f} %{}", figures.idle_percent(), o_.show_idle ? "" : ", left out"));
  add(o_.zero, "each screen anew");
  add(o_.least_samples > 0, fmt::format("from {} samples", o_.least_samples));
  add(o_.report.percent_limit > 0, fmt::format("from {:g} %", o_.report.percent_limit));
  add(o_.entries > 0, fmt::format("{} rows", o_.entries));
  return state;
}

void LivePage::draw(tui::Grid& grid) {
  draw_bar(grid, screen_.theme, bar_text(), target_text());
  if (tables_.empty()) return;
  tui::TableView& view = tables_[at_]->view;
  screen_.painter.draw(grid, 1, grid.rows() - 2, view, screen_.shift);
  draw_table_status(grid, screen_.theme, view, state_text(),
                    "h help  d delay  p pause  / filter  a code  r report  w save  q quit");
  if (view.empty())
    grid.put(
        3, 2,
        view.choice().match().matches_all() ? "no samples" : "no row is left; / changes the filter",
        screen_.theme.note);
}

// --- keys ---

void LivePage::on_key(const Key& key, Pages& pages) {
  if (own_key(key, pages) || tables_.empty() || live_key(key, pages)) return;
  tui::table_key(key, tables_[at_]->view, screen_, pages);
}

bool LivePage::own_key(const Key& key, Pages& pages) {
  if (key.is('q') || key.is('Q'))
    pages.quit();
  else if (key.is('h') || key.is('?') || key.kind == Key::Kind::kF1)
    show_help(pages);
  else if (key.is('m'))
    show_menu(pages);
  else if (key.is('p'))
    pause(pages);
  else if (key.is('d'))
    ask_delay(pages);
  else if (key.is('w'))
    pages.say([&] {
      auto saved = profile_.save();
      return saved ? *saved : saved.error().message;
    }());
  else
    return false;
  return true;
}

bool LivePage::live_key(const Key& key, Pages& pages) {
  if (key.kind == Key::Kind::kTab)
    next_event(1);
  else if (key.kind == Key::Kind::kBackTab)
    next_event(tables_.size() - 1);
  else if (key.kind == Key::Kind::kEscape || key.kind == Key::Kind::kBackspace)
    undo(pages);
  else if (key.is('K'))
    toggle(o_.hide_kernel, "the kernel is left out", "the kernel is shown", pages);
  else if (key.is('U'))
    toggle(o_.hide_user, "programs are left out", "programs are shown", pages);
  else if (key.is('I'))
    toggle(o_.show_idle, "idle functions are shown", "idle functions are left out", pages);
  else if (key.is('z'))
    toggle(o_.zero, "each screen starts anew", "samples fade", pages);
  else if (key.is('F'))
    toggle(o_.report.relative, "shares of what is shown", "shares of all", pages);
  else if (key.is('f'))
    ask_least_samples(pages);
  else if (key.is('L'))
    ask_limit(pages);
  else if (key.is('#'))
    ask_rows(pages);
  else if (key.is('x'))
    turn_around(pages);
  else if (key.is('a'))
    show_code(pages);
  else if (key.is('s'))
    ask_symbol(pages);
  else if (key.is('r'))
    open_report(pages);
  else if (key.is('P'))
    print(pages);
  else
    return false;
  return true;
}

void LivePage::next_event(size_t step) {
  at_ = (at_ + step) % tables_.size();
}

void LivePage::undo(Pages& pages) {
  tui::TableView& view = tables_[at_]->view;
  if (view.choice().match().matches_all()) return pages.say("nothing to undo; q quits");
  view.filter({});
}

void LivePage::pause(Pages& pages) {
  if (has_ended_) return pages.say("it has ended: no more samples come");
  paused_ = !paused_;
  pages.say(paused_ ? "paused: the table is frozen; samples are still taken for w and r"
                    : "goes on");
}

void LivePage::toggle(bool& setting, std::string_view on, std::string_view off, Pages& pages) {
  setting = !setting;
  remake(pages);
  pages.say(std::string(setting ? on : off));
}

/// Switches from callees to callers, or back.
void LivePage::turn_around(Pages& pages) {
  if (!tables_[at_]->live.table.tree) return pages.say("there are no call graphs: top -g");
  Standings standings = leave();
  bool to_callers = profile_.caller_order();
  o_.report.call_graph.caller_order = !to_callers;
  o_.report.call_graph.order_given = true;
  if (Result<> made = profile_.remake(); !made) return pages.say(made.error().message);
  show(standings);
  pages.say(to_callers ? "callers" : "callees");
}

// --- questions ---

void LivePage::ask_number(std::string question, std::string before, Accept accept, Pages& pages) {
  pages.push(std::make_unique<tui::Prompt>(
      screen_.theme, std::move(question), std::move(before), false,
      tui::Prompt::Hooks{
          .on_accept = [accept = std::move(accept)](const std::string& text, bool, Pages& to) {
            auto number = number_from<double>(text);
            if (!number || !std::isfinite(*number) || *number < 0)
              return to.say(fmt::format("'{}' is no number", text));
            accept(*number, to);
          }}));
}

void LivePage::ask_delay(Pages& pages) {
  ask_number(
      "Seconds between screens", fmt::format("{:g}", o_.delay_s),
      [this](double seconds, Pages& to) {
        if (seconds < kMinDelay_s)
          return to.say(fmt::format("the shortest delay is {} s", kMinDelay_s));
        o_.delay_s = seconds;
      },
      pages);
}

void LivePage::ask_rows(Pages& pages) {
  ask_number(
      "Rows (0: all)", fmt::format("{}", o_.entries),
      [this](double rows, Pages& to) {
        o_.entries = static_cast<uint64_t>(std::min(rows, 1e9));
        change_rows(to, "");
      },
      pages);
}

void LivePage::ask_least_samples(Pages& pages) {
  if (o_.starts_anew())
    return pages.say("fading rows have a minimum number of samples; here L leaves out light ones");
  ask_number(
      "Rows of at least so many samples", fmt::format("{}", o_.least_samples),
      [this](double samples, Pages& to) {
        o_.least_samples = static_cast<uint64_t>(std::min(samples, 1e9));
        change_rows(to, "");
      },
      pages);
}

void LivePage::ask_limit(Pages& pages) {
  ask_number(
      "Rows of at least (percent)", fmt::format("{:g}", o_.report.percent_limit),
      [this](double percent, Pages& to) {
        o_.report.percent_limit = percent;
        change_rows(to, "");
      },
      pages);
}

void LivePage::ask_symbol(Pages& pages) {
  pages.push(std::make_unique<tui::Prompt>(
      screen_.theme, "Code of the function", "", false,
      tui::Prompt::Hooks{.on_accept = [this](const std::string& text, bool, Pages& to) {
        if (!text.empty()) open_code(text, "", to);
      }}));
}

// --- other pages ---

std::unique_ptr<report::OpenRecording> LivePage::recent(Pages& pages) {
  pages.say("reading recent samples …");
  tui::draw_now(terminal_, pages);
  pages.say("");
  auto opened = profile_.recent();
  if (opened) return std::move(*opened);
  pages.say(opened.error().message);
  return nullptr;
}

void LivePage::show_code(Pages& pages) {
  const tui::TableView& view = tables_[at_]->view;
  std::optional<Frame> place;
  if (!view.empty()) place = profile_.place(at_, view.row_at(view.cursor()));
  if (!place || !place->symbol.valid())
    return pages.say("this row has no symbol: there is no function to show");
  const Session& session = profile_.session();
  open_code(std::string(session.symbolizer().label(place->symbol)),
            session.machine().dsos()[place->dso].path, pages);
}

void LivePage::open_code(const std::string& symbol, std::string_view object, Pages& pages) {
  std::shared_ptr<report::OpenRecording> recording = recent(pages);
  if (!recording) return;
  const Session& session = recording->session;
  for (const Frame& frame : session.frames()) {
    if (!frame.symbol.valid() || session.symbolizer().label(frame.symbol) != symbol) continue;
    if (!object.empty() && session.machine().dsos()[frame.dso].path != object) continue;
    annotate::ListingOptions options = o_.report.code;
    options.demangle = o_.report.symbol_sources.demangle;
    CodePages code(session, options, screen_.theme, recording);
    EventId event = tables_[at_]->live.event;
    return code.open(frame.symbol, std::span(&event, 1), pages);
  }
  pages.say(fmt::format("no sample of late fell on {}", symbol));
}

void LivePage::open_annotated(Pages& pages) {
  if (o_.annotated.empty() || opened_annotated_) return;
  const Session& session = profile_.session();
  opened_annotated_ = std::ranges::any_of(session.frames(), [&](const Frame& frame) {
    return frame.symbol.valid() && session.symbolizer().label(frame.symbol) == o_.annotated;
  });
  if (opened_annotated_) open_code(o_.annotated, "", pages);
}

/// Opens everything that `report` offers: zooms, flame graphs, callers.
void LivePage::open_report(Pages& pages) {
  auto recording = recent(pages);
  if (!recording) return;
  report::ReportOptions options = o_.report;
  options.only_rows = false;
  options.skip_empty = true;
  options.input = "what was seen of late";
  auto page = report::make_page(
      std::move(recording), options,
      [this](const std::string& path) { return profile_.open(path); }, terminal_, screen_.theme,
      env_, false, pages.wake());
  if (!page) return pages.say(page.error().message);
  pages.push(std::move(*page));
}

void LivePage::print(Pages& pages) {
  print_table(tables_[at_]->view, {bar_text()}, pages);
}

void LivePage::show_menu(Pages& pages) {
  std::vector<tui::Menu::Item> items;
  for (auto [text, key] : {std::pair("p  pause or resume", U'p'),
                           {"d  delay …", U'd'},
                           {"a  code of the function", U'a'},
                           {"s  code of another function …", U's'},
                           {"r  report of recent samples", U'r'},
                           {"w  save that as perf.data", U'w'},
                           {"/  filter …", U'/'},
                           {"z  each screen anew, or fading", U'z'},
                           {"K  with or without the kernel", U'K'},
                           {"U  with or without programs", U'U'},
                           {"I  with or without idle functions", U'I'},
                           {"f  minimum samples …", U'f'},
                           {"#  number of rows …", U'#'},
                           {"P  print to a file", U'P'},
                           {"h  help", U'h'},
                           {"q  quit", U'q'}})
    items.push_back({text, [this, key](Pages& to) { on_key(Key::of(key), to); }});
  pages.push(std::make_unique<tui::Menu>(screen_.theme, "top", std::move(items)));
}

void LivePage::show_help(Pages& pages) {
  std::vector<std::string> lines = tui::table_key_help();
  for (std::string_view line : {
           "What is live",
           "  p                pause; samples are still taken, for w and r",
           "  d                delay between screens",
           "  z                each screen starts anew, or rows fade, an eighth per screen",
           "  K U I            leave out the kernel, programs; show idle functions",
           "  f L #            minimum samples, minimum percent, number of rows",
           "  F                shares of all, or of what is shown (--percentage)",
           "  x                switch between callees and callers (-g)",
           "  Tab Shift-Tab    next, previous event",
           "Recent samples (the last 32 MB of records)",
           "  a s              the code of the row's function, of a function by name",
           "  r                as a report: zooms, flame graph, callers; q comes back",
           "  w                save them as perf.data",
           "Others",
           "  P                print the table to perf.hist.N in this directory",
           "  m                a menu of these",
           "  Esc              undoes the filter",
           "  h ? F1           this help",
           "  q Ctrl-C         quit",
       })
    lines.emplace_back(line);
  pages.push(std::make_unique<tui::TextPage>(screen_.theme, "top: keys", std::move(lines)));
}

}  // namespace sonde::top
