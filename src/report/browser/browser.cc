#include "report/browser/browser.h"

#include <unistd.h>

#include <filesystem>

#include "analysis/sampling/sampling_gaps.h"
#include "base/files/regular_file.h"
#include "base/text.h"
#include "perfdata/dump/header_text.h"
#include "render/table_text.h"
#include "report/browser/code_pages.h"
#include "report/browser/flame.h"
#include "report/browser/level.h"
#include "report/browser/sample_context.h"
#include "report/browser/sandwich.h"
#include "report/browser/type.h"
#include "report/heading.h"
#include "report/no_samples.h"
#include "tui/pages/flame_page.h"
#include "tui/pages/layout_page.h"
#include "tui/pages/menu.h"
#include "tui/pages/table_frame.h"
#include "tui/pages/table_keys.h"
#include "tui/pages/text_page.h"
#include "tui/terminal/browser_terminal.h"
#include "tui/terminal/run.h"
#include "tui/terminal/worker.h"

namespace sonde::report {
namespace {

using tui::Key;
using tui::Pages;

class ReportPage final : public tui::Page {
 public:
  ReportPage(std::unique_ptr<OpenRecording> recording, const ReportOptions& options,
             OpenAnother open, tui::Terminal& terminal, const tui::Theme& theme, Env& env,
             bool is_whole, const tui::Wake& wake)
      : recording_(std::move(recording)),
        first_options_(options),
        open_(std::move(open)),
        terminal_(terminal),
        env_(env),
        is_whole_(is_whole),
        wake_(wake),
        screen_(theme) {}

  Result<> start() {
    levels_.clear();
    annotate::ListingOptions code = first_options_.code;
    code.demangle = first_options_.symbol_sources.demangle;
    code_ = std::make_unique<CodePages>(recording_->session, code, screen_.theme);
    levels_.push_back(TRY(ReportLevel::make(*recording_, first_options_, env_.tool)));
    worker_ = std::make_unique<tui::Worker<Arrival>>(wake_);
    return {};
  }

  void draw(tui::Grid& grid) override {
    draw_bar(grid);
    screen_.painter.draw(grid, 1, grid.rows() - 2, level().view(), screen_.shift);
    draw_status(grid);
  }

  void on_key(const Key& key, Pages& pages) override {
    if (own_key(key, pages) || zoom_key(key, pages)) return;
    tui::table_key(key, level().view(), screen_, pages);
  }

  void on_wake(Pages& pages) override {
    if (auto arrival = worker_->take()) (*arrival)(pages);
  }

 private:
  /// What to do with the worker's result.
  using Arrival = std::move_only_function<void(Pages&)>;

  [[nodiscard]] ReportLevel& level() const { return *levels_.back(); }

  [[nodiscard]] const LossLedger& losses() const {
    return recording_->outside ? recording_->outside->losses : env_.losses;
  }

  // --- drawing ---

  void draw_bar(tui::Grid& grid) const {
    const ReportLevel& now = level();
    std::string line =
        samples_line(now.report(), now.options()) + ", " + count_line(now.report(), now.options());
    if (now.events() > 1) line = fmt::format("[{}/{} Tab] {}", now.event() + 1, now.events(), line);
    if (std::string damage = losses().damage_summary(); !damage.empty())
      line = fmt::format("{} (i) · {}", damage, line);
    sonde::draw_bar(grid, screen_.theme, line,
                    std::filesystem::path(first_options_.input).filename().string());
  }

  [[nodiscard]] std::string path_text() const {
    std::string path;
    for (const auto& one : levels_) {
      std::string word = one->step ? zoom_text(*one->step) : one->note;
      if (!word.empty()) path += (path.empty() ? "all › " : " › ") + word;
    }
    return path;
  }

  void draw_status(tui::Grid& grid) {
    const tui::TableView& view = level().view();
    std::string path = path_text();
    if (worker_->busy())
      path += fmt::format("{}working: {} …  Esc stops it", path.empty() ? "" : " · ", doing_);
    draw_table_status(grid, screen_.theme, view, path,
                      "h help  Enter unfold  / filter  d t z zoom  a code  q quit");
    if (view.empty()) grid.put(3, 2, "no row is left; / changes the filter", screen_.theme.note);
  }

  // --- keys ---

  bool own_key(const Key& key, Pages& pages) {
    if (key.is('q') || key.is('Q'))
      is_whole_ ? pages.quit() : pages.pop();
    else if (key.is('h') || key.is('?') || key.kind == Key::Kind::kF1)
      show_help(pages);
    else if (key.kind == Key::Kind::kTab)
      next_event(1);
    else if (key.kind == Key::Kind::kBackTab)
      next_event(level().events() - 1);
    else if (key.is('P'))
      print(pages);
    else if (key.is('i'))
      show_header(pages);
    else if (key.is('s'))
      choose_file(pages);
    else if (key.is('a'))
      show_code(pages);
    else if (key.is('T'))
      show_type(pages);
    else if (key.is('f'))
      show_flame_graph(pages);
    else if (key.is('m'))
      show_menu(pages);
    else if (key.is('S'))
      show_samples(pages);
    else
      return false;
    return true;
  }

  void show_code(Pages& pages) {
    auto frame = level().frame();
    if (frame && level().is_of_types()) return show_type(pages);
    if (!frame || !frame->symbol.valid())
      return pages.say("this row has no symbol: there is no function to show");
    code_->open(frame->symbol, level().report().members, pages);
  }

  /// The data type that the row's instruction touches, field by field.
  void show_type(Pages& pages) {
    auto frame = level().frame();
    if (!frame) return pages.say("this row has no code location");
    doing_ = "type of data";
    worker_->start([this, frame = *frame, events = level().report().members]() -> Arrival {
      auto made = make_layout(*recording_, frame, events);
      return [this, made = std::move(made)](Pages& to) mutable {
        if (!made) return to.say(made.error().message);
        to.push(std::make_unique<tui::LayoutPage>(screen_.theme, std::move(*made)));
      };
    });
  }

  /// Some samples of the row; each opens what its thread did around it.
  void show_samples(Pages& pages) {
    uint32_t most = level().options().browser_samples;
    if (most == 0) return pages.say("no samples are kept: report --samples N keeps N of each row");
    auto row = level().row();
    if (!row) return pages.say("this table has no rows");
    std::vector<tui::Menu::Item> items;
    for (uint32_t sample : samples_of_row(level().report(), *row, most))
      items.push_back({sample_text(level().report(), sample), [this, sample](Pages& to) {
                         to.push(std::make_unique<tui::TextPage>(
                             screen_.theme, "around " + sample_text(level().report(), sample),
                             sample_context(level().report(), recording_->session, sample)));
                       }});
    pages.push(std::make_unique<tui::Menu>(screen_.theme, "Samples", std::move(items)));
  }

  void show_flame_graph(Pages& pages) {
    if (!level().plan().call_graph) return pages.say("there are no call chains: record with -g");
    std::string title = samples_line(level().report(), level().options());
    if (std::string path = path_text(); !path.empty()) title += "  " + path;
    doing_ = "flame graph";
    worker_->start(
        [this, request = flame_wish(level()), title = std::move(title)]() mutable -> Arrival {
          auto made = make_flame_tree(*recording_, std::move(request), env_.tool);
          return [this, made = std::move(made), title = std::move(title)](Pages& to) mutable {
            if (!made) return to.say(made.error().message);
            to.push(std::make_unique<tui::FlamePage>(screen_.theme, std::move(title),
                                                     std::move(*made)));
          };
        });
  }

  /// Callers and callees of the row's function, side by side.
  void show_sandwich(Pages& pages) {
    auto frame = level().frame();
    if (!level().plan().call_graph) return pages.say("there are no call chains: record with -g");
    if (!frame || !frame->symbol.valid())
      return pages.say("this row has no symbol: there is no function to show");
    std::string name(recording_->session.symbolizer().label(frame->symbol));
    doing_ = "callers and callees";
    worker_->start([this, options = level().options(), name = std::move(name),
                    event = level().event()]() mutable -> Arrival {
      auto made = make_sandwich(*recording_, std::move(options), std::move(name), env_.tool);
      return [this, made = std::move(made), event](Pages& to) mutable {
        if (!made) return to.say(made.error().message);
        to.push(sandwich_page(screen_.theme, std::move(*made), event));
      };
    });
  }

  void next_event(size_t by) { level().show_event((level().event() + by) % level().events()); }

  bool zoom_key(const Key& key, Pages& pages) {
    if (key.kind == Key::Kind::kEscape || key.kind == Key::Kind::kBackspace)
      undo(pages);
    else if (key.is('d'))
      zoom(level().dso_step(), "this row has no object", pages);
    else if (key.is('t'))
      zoom(level().thread_step(), "this row has no thread", pages);
    else if (key.is('y'))
      zoom(level().symbol_step(), "this row has no symbol", pages);
    else if (key.is('k'))
      zoom(kernel_step(), "no kernel in this recording", pages);
    else if (key.is('z'))
      show_zooms(pages);
    else if (key.is('F'))
      change(level().options().relative ? "shares of all" : "shares of what is shown",
             [](ReportOptions& o) { o.relative = !o.relative; });
    else if (key.is('V'))
      change(level().options().verbose > 0 ? "brief" : "verbose",
             [](ReportOptions& o) { o.verbose = o.verbose > 0 ? 0 : 1; });
    else if (key.is('I'))
      show_intervals();
    else if (key.is('L'))
      ask_limit(pages);
    else if (key.is('x'))
      turn_around(pages);
    else if (key.is('X'))
      show_sandwich(pages);
    else
      return false;
    return true;
  }

  // --- other tables ---

  void undo(Pages& pages) {
    if (worker_->busy()) {
      worker_->cancel();
      pages.say("stopped: " + doing_);
    } else if (!level().view().choice().match().matches_all())
      level().view().filter({});
    else if (levels_.size() > 1)
      levels_.pop_back();
    else if (is_whole_)
      pages.say("nothing to undo; q quits");
    else
      pages.pop();
  }

  using Then = std::function<void()>;

  /// Has a level built, which becomes the top one; then calls `then`.
  void put_level(
      ReportOptions options, std::optional<ZoomStep> step, std::string note, Then then = [] {}) {
    doing_ = step ? zoom_text(*step) : note;
    worker_->start([this, options = std::move(options), step = std::move(step),
                    note = std::move(note), then = std::move(then)]() mutable -> Arrival {
      auto made = ReportLevel::make(*recording_, std::move(options), env_.tool);
      if (made) {
        (*made)->step = std::move(step);
        (*made)->note = std::move(note);
      }
      return [this, made = std::move(made), then = std::move(then)](Pages& pages) mutable {
        if (!made) return pages.say(doing_ + ": " + made.error().message);
        (*made)->show_event(std::min(level().event(), (*made)->events() - 1));
        levels_.push_back(std::move(*made));
        then();
      };
    });
  }

  void zoom(const std::optional<ZoomStep>& step, std::string_view without, Pages& pages) {
    if (!step) return pages.say(std::string(without));
    ReportOptions options = level().options();
    if (Result<> done = apply_zoom(*step, options); !done)
      return pages.say(zoom_text(*step) + ": " + done.error().message);
    put_level(std::move(options), *step, "");
  }

  template <typename Change>
  void change(std::string note, const Change& how) {
    ReportOptions options = level().options();
    how(options);
    put_level(std::move(options), std::nullopt, std::move(note));
  }

  /// The same rows with the 95 % interval of each share, or without: the filter and the cursor
  /// stay.
  void show_intervals() {
    ReportOptions options = level().options();
    options.show_intervals = !options.show_intervals;
    tui::TextMatch match = level().view().choice().match();
    std::optional<uint32_t> row;
    if (!level().view().empty()) row = level().view().row_at(level().view().cursor());
    size_t height = level().view().visible().size();
    std::string note = options.show_intervals ? "intervals" : "no intervals";
    put_level(std::move(options), std::nullopt, std::move(note), [this, match, row, height] {
      tui::TableView& view = level().view();
      view.set_height(height);  // it has not been drawn yet
      view.filter(match);
      std::optional<size_t> place;
      if (row) place = view.choice().place_of(*row);
      if (place) view.to({*place, 0});
    });
  }

  /// Switches the current row from callees to callers, or back.
  void turn_around(Pages& pages) {
    if (level().view().empty()) return;
    if (!level().plan().call_graph) return pages.say("there are no call graphs in these tables");
    std::string name = row_text(level().view(), level().view().cursor());
    bool to_callers = level().plan().caller_order;
    ReportOptions options = level().options();
    options.call_graph.caller_order = !to_callers;
    options.call_graph.order_given = true;
    options.inverted = false;
    put_level(std::move(options), std::nullopt, to_callers ? "callers" : "callees",
              [this, name] { unfold(name); });
  }
  /// Goes to a row by its text and opens its tree.
  void unfold(const std::string& name) {
    tui::TableView& view = level().view();
    tui::TableView::Place place;
    for (; place.row < view.choice().rows().size(); ++place.row)
      if (row_text(view, place) == name) break;
    view.to(place);
    if (!view.is_open(view.cursor().row)) view.toggle();
  }
  /// The row's own line, which is the same in every table of the same samples.
  static std::string row_text(tui::TableView& view, const tui::TableView::Place& place) {
    std::vector<size_t> starts;
    return render::table_row_text(view.table(), view.row_at(place), {}, starts);
  }

  [[nodiscard]] std::optional<ZoomStep> kernel_step() const {
    const DsoTable& dsos = recording_->session.machine().dsos();
    for (const Frame& frame : recording_->session.frames())
      if (frame.dso.valid() && dsos[frame.dso].kind == DsoKind::kKernel)
        return ZoomStep{ZoomStep::Kind::kDso, dsos[frame.dso].short_name};
    return std::nullopt;
  }

  void show_zooms(Pages& pages) {
    std::vector<tui::Menu::Item> items;
    auto add = [&](const std::optional<ZoomStep>& step) {
      if (step)
        items.push_back({zoom_text(*step), [this, step](Pages& to) { zoom(step, "", to); }});
    };
    add(level().dso_step());
    add(level().thread_step());
    add(level().symbol_step());
    add(kernel_step());
    auto add_question = [&](std::string text, std::string question, ZoomStep::Kind kind) {
      items.push_back(
          {std::move(text), [this, question, kind](Pages& to) { ask_zoom(question, kind, to); }});
    };
    add_question("CPUs …", "CPUs (0,2-3)", ZoomStep::Kind::kCpu);
    add_question("time …", "Time (10%-20%, or seconds: 1.5,2.5)", ZoomStep::Kind::kTime);
    add_question("thread …", "Thread id", ZoomStep::Kind::kTid);
    add_question("processor socket …", "Socket", ZoomStep::Kind::kSocket);
    pages.push(std::make_unique<tui::Menu>(screen_.theme, "Zoom", std::move(items)));
  }

  void ask_zoom(const std::string& question, ZoomStep::Kind kind, Pages& pages) {
    pages.push(std::make_unique<tui::Prompt>(
        screen_.theme, question, "", false,
        tui::Prompt::Hooks{.on_accept = [this, kind](const std::string& text, bool, Pages& to) {
          if (!text.empty()) zoom(ZoomStep{kind, text}, "", to);
        }}));
  }

  void ask_limit(Pages& pages) {
    pages.push(std::make_unique<tui::Prompt>(
        screen_.theme, "Rows of at least (percent)", "", false,
        tui::Prompt::Hooks{.on_accept = [this](const std::string& text, bool, Pages& to) {
          ReportOptions options = level().options();
          if (Result<> done = set_percent_limit(options, text); !done)
            return to.say(done.error().message);
          put_level(std::move(options), std::nullopt, "from " + text + " %");
        }}));
  }

  void show_menu(Pages& pages) {
    std::vector<tui::Menu::Item> items;
    auto add = [&](std::string text, char32_t key) {
      items.push_back({std::move(text), [this, key](Pages& to) { on_key(Key::of(key), to); }});
    };
    add("a  code of the function", 'a');
    add("T  type of data, field by field", 'T');
    if (level().options().browser_samples > 0) add("S  samples of the row …", 'S');
    add("z  zoom …", 'z');
    add("f  flame graph", 'f');
    add("x  callers or callees", 'x');
    add("X  callers and callees", 'X');
    add("H  hottest calls", 'H');
    add("I  intervals of the shares", 'I');
    add("e  unfold everything", 'e');
    add("c  fold everything", 'c');
    add("/  filter …", '/');
    add("P  print to a file", 'P');
    add("s  other recording …", 's');
    add("i  header of the recording", 'i');
    add("h  help", 'h');
    add("q  quit", 'q');
    pages.push(std::make_unique<tui::Menu>(screen_.theme, "report", std::move(items)));
  }

  // --- other pages ---

  void show_help(Pages& pages) {
    std::vector<std::string> lines = tui::table_key_help();
    for (std::string_view line : {
             "Zooming: each table is the one that --stdio shows with that option",
             "  d t y k          object, thread or process, symbol of the row; the kernel",
             "  z                choose: also CPUs, times, sockets",
             "  Esc              undoes the filter, then the last zoom",
             "  F                shares of all, or of what is shown (--percentage)",
             "  I                the 95% interval of each share (--confidence), or not",
             "  L                leave out rows below a percentage",
             "  V                verbose: full paths, addresses",
             "Others",
             "  x                switch between callees and callers of the row",
             "  X                its callers and callees side by side",
             "  f                flame graph of what is zoomed into",
             "  a                the code of the function, with the samples on each instruction",
             "  T                the type of data that it touches, with the samples on each field",
             "  S                samples of the row, and what happened around them (--samples)",
             "  Tab Shift-Tab    next, previous event",
             "  m                a menu of these",
             "  P                print to perf.hist.N in this directory",
             "  s                another recording in this directory",
             "  i                header of the recording",
             "  h ? F1           this help",
             "  q Ctrl-C         quit",
         })
      lines.emplace_back(line);
    pages.push(std::make_unique<tui::TextPage>(screen_.theme, "report: keys", std::move(lines)));
  }

  void show_header(Pages& pages) {
    StringSink text;
    write_header_text(text, recording_->session.recording(), true);
    std::vector<std::string> lines;
    for (const std::string& line : losses().damage()) lines.push_back(" # " + line);
    for (const std::string& gap : sampling_gaps(recording_->session)) lines.push_back(" # " + gap);
    for (std::string_view line : split(text.text(), '\n')) lines.push_back(" " + std::string(line));
    pages.push(std::make_unique<tui::TextPage>(screen_.theme, first_options_.input, lines));
  }

  void print(Pages& pages) {
    std::vector<std::string> heading = losses().damage();
    heading.push_back(samples_line(level().report(), level().options()));
    heading.push_back(count_line(level().report(), level().options()));
    print_table(level().view(), heading, pages);
  }

  void choose_file(Pages& pages) {
    std::vector<std::string> paths = recordings_here();
    std::vector<tui::Menu::Item> items;
    for (const std::string& path : paths)
      items.push_back({path, [this, path](Pages& to) { switch_to(path, to); }});
    if (items.empty()) return pages.say("there is no other recording in this directory");
    pages.push(std::make_unique<tui::Menu>(screen_.theme, "Other recordings", std::move(items)));
  }

  /// Recognised by their first bytes: perf.data's magic in either byte order.
  static std::vector<std::string> recordings_here() {
    std::vector<std::string> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(".", error)) {
      if (!entry.is_regular_file(error)) continue;
      char magic[8] = {};
      Result<Fd> file = open_regular(entry.path());
      if (!file || ::pread(file->get(), magic, sizeof magic, 0) != sizeof magic) continue;
      std::string_view first(magic, sizeof magic);
      if (first == "PERFILE2" || first == "2ELIFREP") found.push_back(entry.path().filename());
    }
    std::ranges::sort(found);
    return found;
  }

  void switch_to(const std::string& path, Pages& pages) {
    pages.say("opening " + path + " …");
    tui::draw_now(terminal_, pages);
    pages.say("");
    auto opened = open_(path);
    if (!opened) return pages.say(path + ": " + opened.error().message);
    worker_.reset();  // before the data it reads
    std::vector<std::unique_ptr<ReportLevel>> levels = std::move(levels_);
    std::unique_ptr<OpenRecording> before = std::exchange(recording_, std::move(*opened));
    std::unique_ptr<CodePages> code = std::move(code_);
    std::string name = std::exchange(first_options_.input, path);
    if (Result<> done = start(); !done) {
      levels_ = std::move(levels);
      code_ = std::move(code);
      std::swap(recording_, before);
      first_options_.input = name;
      worker_ = std::make_unique<tui::Worker<Arrival>>(wake_);
      pages.say(path + ": " + done.error().message);
    }
    levels.clear();  // before what they refer to
    code.reset();
  }

  std::unique_ptr<OpenRecording> recording_;
  ReportOptions first_options_;
  OpenAnother open_;
  tui::Terminal& terminal_;
  Env& env_;
  bool is_whole_;  // q has nothing to go back to
  const tui::Wake& wake_;
  tui::TableScreen screen_;
  std::unique_ptr<CodePages> code_;  // for the recording
  std::vector<std::unique_ptr<ReportLevel>> levels_;
  std::string doing_;                             // what the worker is making
  std::unique_ptr<tui::Worker<Arrival>> worker_;  // ends before the data it reads
};

}  // namespace

Result<std::unique_ptr<tui::Page>> make_page(std::unique_ptr<OpenRecording> recording,
                                             const ReportOptions& options, OpenAnother open,
                                             tui::Terminal& terminal, const tui::Theme& theme,
                                             Env& env, bool is_whole, const tui::Wake& wake) {
  auto page = std::make_unique<ReportPage>(std::move(recording), options, std::move(open), terminal,
                                           theme, env, is_whole, wake);
  TRY(page->start());
  return page;
}

Result<int> browse(std::unique_ptr<OpenRecording> recording, const ReportOptions& options,
                   OpenAnother open, Env& env) {
  BrowserTerminal terminal = TRY(BrowserTerminal::open(env));
  Pages pages;
  auto page = make_page(std::move(recording), options, std::move(open), terminal.terminal(),
                        terminal.theme(), env, true, pages.wake());
  if (!page) {
    terminal.leave();
    if (page.error().code != ErrorCode::kNotFound) return std::unexpected(std::move(page).error());
    return say_no_samples(env, options.input, 0);
  }
  pages.push(std::move(*page));
  tui::run(terminal.terminal(), pages);
  return 0;
}

}  // namespace sonde::report
