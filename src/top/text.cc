#include "top/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "base/option_values.h"
#include "base/text.h"
#include "render/table_text.h"
#include "top/code.h"
#include "tui/terminal/text_screen.h"

namespace sonde::top {
namespace {

constexpr std::string_view kKeyHelp =
    "d delay  e rows  f min  K/U/I kernel/user/idle  z zero  p pause  w save  q quit";

class TextTop {
 public:
  TextTop(LiveProfile& profile, TopOptions& options, SignalQueue& signals, Poller& poller, Env& env)
      : profile_(profile),
        o_(options),
        env_(env),
        signals_(signals),
        poller_(poller),
        screen_(env.out, env.out_fd),
        keys_(screen_.is_terminal() ? env.in_fd : -1) {}

  Result<> run() {
    poller_.add(signals_.fd(), [this](auto) { on_signals(); });
    if (keys_.is_on()) poller_.add(keys_.fd(), [this](auto) { on_keys(); });
    while (!done_ && !profile_.target_ended()) {
      poller_.wait(profile_.wait_ms());
      profile_.drain();
      if (profile_.is_over()) TRY(refresh());
    }
    profile_.stop();
    if (profile_.target_ended()) {
      profile_.drain();
      TRY(refresh());
    }
    screen_.leave();
    return {};
  }

 private:
  Result<> refresh() {
    TRY(profile_.next_interval());
    StringSink text(env_.out);
    text.print("{}\n{}\n\n", heading(profile_.figures()), std::string(79, '-'));
    if (o_.annotated.empty())
      write_tables(text);
    else
      TRY(write_annotated_code(profile_, o_, text));
    if (paused_) return {};
    screen_.show(text, footer());
    if (env_.out.failed() != 0) done_ = true;
    return {};
  }

  [[nodiscard]] size_t rows_wanted() const { return o_.entries != 0 ? o_.entries : screen_.room(); }

  void write_tables(StringSink& text) {
    bool is_first = true;
    for (const LiveTable& live : profile_.tables(rows_wanted())) {
      if (profile_.figures().events.empty()) {
        if (!std::exchange(is_first, false)) text.write("\n");
        text.print("# {}\n", live.name);
      }
      render::TableTextOptions how{.header = false, .color = screen_.is_terminal()};
      StringSink whole(text.is_shown());
      render::write_table(whole, live.table, how);
      if (o_.starts_anew())
        write_first_lines(whole.text(), text);
      else
        text.write(whole);
    }
  }

  void write_first_lines(std::string_view all, Sink& text) const {
    std::vector<std::string_view> lines = split(all, '\n');
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    size_t most = o_.record.sampling.call_graph != CallGraphMode::kNone && o_.entries == 0 &&
                          !screen_.is_terminal()
                      ? lines.size()
                      : rows_wanted();
    for (size_t i = 0; i < std::min(lines.size(), most); ++i)
      text.write_as_is(std::string(lines[i]) + '\n');
  }

  // --- keys ---

  [[nodiscard]] std::string footer() {
    if (!keys_.is_on()) return {};
    if (!question_.empty()) return fmt::format("{}: {}", question_, answer_);
    std::string said = std::exchange(message_, {});
    return said.empty() ? std::string(kKeyHelp) : said;
  }

  void on_keys() {
    for (char key : keys_.read()) question_.empty() ? on_key(key) : on_answer(key);
  }
  void say(std::string text) {
    message_ = std::move(text);
    redraw_footer();
  }
  void redraw_footer() { screen_.show_footer(footer()); }

  void on_key(char key) {
    switch (key) {
      case 'q':
      case 'Q':
        done_ = true;
        return;
      case 'd':
        return ask(key, "Delay between refreshes, in seconds");
      case 'e':
        return ask(key, "Entries to display (0: as many as fit)");
      case 'f':
        return ask(key, "Minimum samples of a row");
      case 'K':
        return toggle(o_.hide_kernel, "kernel symbols are hidden", "kernel symbols are shown");
      case 'U':
        return toggle(o_.hide_user, "user symbols are hidden", "user symbols are shown");
      case 'I':
        return toggle(o_.show_idle, "idle functions are shown", "idle functions are left out");
      case 'z':
        return toggle(o_.zero, "each screen starts anew", "samples fade");
      case 'p':
      case ' ':
        return toggle(paused_, "paused; samples are still counted", "goes on");
      case 'w':
        return save();
      default:
        return redraw_footer();
    }
  }

  void toggle(bool& setting, std::string_view on, std::string_view off) {
    setting = !setting;
    if (&setting != &paused_) profile_.forget_history();
    say(std::string(setting ? on : off));
  }

  void ask(char key, std::string_view question) {
    asked_ = key;
    question_ = question;
    answer_.clear();
    redraw_footer();
  }
  void on_answer(char key) {
    constexpr char kBackspace = 127, kEscape = 27;
    constexpr size_t kMaxLength = 12;
    if (key == '\n' || key == '\r') return take_answer();
    if (key == kEscape) {
      question_.clear();
    } else if (key == kBackspace || key == '\b') {
      if (!answer_.empty()) answer_.pop_back();
    } else if (((key >= '0' && key <= '9') || key == '.') && answer_.size() < kMaxLength) {
      answer_ += key;
    }
    redraw_footer();
  }
  void take_answer() {
    question_.clear();
    auto number = number_from<double>(answer_);
    constexpr double kMin_s = 0.1;
    if (!number || (asked_ == 'd' && !(*number >= kMin_s)))
      return say(fmt::format("'{}' is no {}", answer_, asked_ == 'd' ? "delay" : "number"));
    if (asked_ == 'd') o_.delay_s = *number;
    if (asked_ == 'e') o_.entries = static_cast<uint64_t>(*number);
    if (asked_ == 'f') o_.least_samples = static_cast<uint64_t>(*number);
    redraw_footer();
  }

  void save() {
    auto saved = profile_.save();
    say(saved ? *saved : saved.error().message);
  }

  void on_signals() {
    while (std::optional<int> number = signals_.next())
      if (*number == SIGINT || *number == SIGTERM || *number == SIGHUP) done_ = true;
  }

  LiveProfile& profile_;
  TopOptions& o_;
  Env& env_;
  SignalQueue& signals_;
  Poller& poller_;
  tui::TextScreen screen_;
  tui::KeyInput keys_;
  bool done_ = false, paused_ = false;
  char asked_ = 0;
  std::string question_, answer_, message_;
};

}  // namespace

Result<> show_text(LiveProfile& profile, TopOptions& options, SignalQueue& signals, Poller& poller,
                   Env& env) {
  return TextTop(profile, options, signals, poller, env).run();
}

}  // namespace sonde::top
