// Pages: a stack of what a terminal shows. The top one gets the keys; pages that don't fill the
// screen (menus, prompts) are drawn over those below.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tui/terminal/grid.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/wake.h"

namespace sonde::tui {

class Pages;

class Page {
 public:
  virtual ~Page() = default;
  virtual void draw(Grid& grid) = 0;
  virtual void on_key(const Key& key, Pages& pages) = 0;
  /// Called when the wake rings while this page is on top, or when it becomes the top.
  virtual void on_wake(Pages& pages) { (void)pages; }
  /// Whether the page below stays visible.
  [[nodiscard]] virtual bool is_overlay() const { return false; }
};

class Pages {
 public:
  Pages() = default;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  /// Destroys from the top down: pages may use what those below own.
  ~Pages();
  void push(std::unique_ptr<Page> page) { pages_.push_back(std::move(page)); }
  /// Removes the top page. A page may pop itself: it lives until its key has been handled.
  void pop();
  void quit() { quits_ = true; }
  [[nodiscard]] bool ended() const { return quits_ || pages_.empty(); }

  [[nodiscard]] Grid draw(size_t rows, size_t columns) const;
  void on_key(const Key& key);
  void on_wake();
  /// For the worker threads of pages.
  [[nodiscard]] const Wake& wake() const { return wake_; }
  /// Shows a message over the last row until the next key.
  void say(std::string message) { message_ = std::move(message); }
  [[nodiscard]] Page* top() const { return pages_.empty() ? nullptr : pages_.back().get(); }

 private:
  Wake wake_;  // the pages' threads ring it
  std::vector<std::unique_ptr<Page>> pages_, leaving_;
  std::string message_;
  bool quits_ = false;
};

}  // namespace sonde::tui
