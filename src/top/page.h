// The page of `top`: tables that are updated live while the user's position stays put.
#pragma once

#include "top/profile.h"
#include "tui/pages/table_keys.h"
#include "tui/terminal/terminal.h"

namespace sonde::top {

class LivePage final : public tui::Page {
 public:
  LivePage(LiveProfile& profile, TopOptions& options, tui::Terminal& terminal,
           const tui::Theme& theme, Env& env)
      : profile_(profile), o_(options), terminal_(terminal), env_(env), screen_(theme) {}

  /// The interval is over: shows the next tables or, while paused, the same ones.
  Result<> refresh();
  /// --sym-annotate: opens the code of that function as soon as samples have fallen on it.
  void open_annotated(tui::Pages& pages);
  /// No more data will come.
  void end() { has_ended_ = true; }
  void draw(tui::Grid& grid) override;
  void on_key(const tui::Key& key, tui::Pages& pages) override;

 private:
  struct Shown {
    explicit Shown(LiveTable first) : live(std::move(first)), view(live.table) {}
    LiveTable live;
    tui::TableView view;
  };
  using Standings = std::vector<tui::TableView::Standing>;
  [[nodiscard]] Standings leave();
  void show(const Standings& standings);
  /// Rebuilds the current view with other options.
  void remake(tui::Pages& pages);
  void change_rows(tui::Pages& pages, std::string note);
  [[nodiscard]] std::string bar_text() const;
  [[nodiscard]] std::string target_text() const;
  [[nodiscard]] std::string state_text() const;
  [[nodiscard]] const EventDesc& event() const;

  bool own_key(const tui::Key& key, tui::Pages& pages);
  bool live_key(const tui::Key& key, tui::Pages& pages);
  void undo(tui::Pages& pages);
  void pause(tui::Pages& pages);
  void toggle(bool& setting, std::string_view on, std::string_view off, tui::Pages& pages);
  void turn_around(tui::Pages& pages);
  void next_event(size_t step);

  using Accept = std::function<void(double, tui::Pages&)>;
  void ask_number(std::string question, std::string before, Accept accept, tui::Pages& pages);
  void ask_delay(tui::Pages& pages);
  void ask_rows(tui::Pages& pages);
  void ask_least_samples(tui::Pages& pages);
  void ask_limit(tui::Pages& pages);
  void ask_symbol(tui::Pages& pages);

  void show_code(tui::Pages& pages);
  void open_code(const std::string& symbol, std::string_view object, tui::Pages& pages);
  void open_report(tui::Pages& pages);
  std::unique_ptr<report::OpenRecording> recent(tui::Pages& pages);
  void show_help(tui::Pages& pages);
  void show_menu(tui::Pages& pages);
  void print(tui::Pages& pages);

  LiveProfile& profile_;
  TopOptions& o_;
  tui::Terminal& terminal_;
  Env& env_;
  tui::TableScreen screen_;
  std::vector<std::unique_ptr<Shown>> tables_;
  size_t at_ = 0;
  bool paused_ = false, has_ended_ = false, opened_annotated_ = false;
};

}  // namespace sonde::top
