#include "top/browser.h"

#include <csignal>

#include "top/page.h"
#include "tui/terminal/browser_terminal.h"
#include "tui/terminal/run.h"

namespace sonde::top {
namespace {

/// Shorter than the later ones: nobody wants to look at an empty screen for that long.
constexpr double kFirstInterval_s = 0.5;

class LiveBrowser {
 public:
  LiveBrowser(LiveProfile& profile, TopOptions& options, SignalQueue& signals, Poller& poller,
              BrowserTerminal& terminal, Env& env)
      : profile_(profile), signals_(signals), poller_(poller), terminal_(terminal.terminal()) {
    auto page = std::make_unique<LivePage>(profile, options, terminal_, terminal.theme(), env);
    page_ = page.get();
    pages_.push(std::move(page));
  }

  Result<> run() {
    poller_.add(signals_.fd(), [this](auto) { on_signals(); });
    for (int fd : {terminal_.key_fd(), terminal_.signal_fd(), pages_.wake().fd()})
      poller_.add(fd, [this](auto) { has_events_ = true; });
    profile_.end_interval_after(kFirstInterval_s);
    tui::draw_now(terminal_, pages_);
    while (!done_) TRY(round());
    if (!has_ended_) profile_.stop();
    return {};
  }

 private:
  Result<> round() {
    poller_.wait(has_ended_ ? -1 : profile_.wait_ms());
    bool changes = std::exchange(has_events_, false);
    if (changes) done_ = done_ || !tui::serve(terminal_, pages_, 0);
    if (!has_ended_) {
      profile_.drain();
      bool ends = profile_.target_ended();
      if (ends) profile_.stop();
      if (profile_.is_over() || ends) {
        TRY(page_->refresh());
        page_->open_annotated(pages_);
        changes = true;
      }
      if (ends) {
        has_ended_ = true;
        page_->end();
      }
    }
    if (changes && !done_) tui::draw_now(terminal_, pages_);
    return {};
  }

  void on_signals() {
    while (std::optional<int> number = signals_.next())
      if (*number == SIGINT || *number == SIGTERM) done_ = true;
  }

  LiveProfile& profile_;
  SignalQueue& signals_;
  Poller& poller_;
  tui::Terminal& terminal_;
  tui::Pages pages_;
  LivePage* page_;
  bool has_events_ = false, has_ended_ = false, done_ = false;
};

}  // namespace

Result<> browse(LiveProfile& profile, TopOptions& options, SignalQueue& signals, Poller& poller,
                Env& env) {
  BrowserTerminal terminal = TRY(BrowserTerminal::open(env));
  return LiveBrowser(profile, options, signals, poller, terminal, env).run();
}

}  // namespace sonde::top
