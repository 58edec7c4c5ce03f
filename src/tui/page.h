// Pages: what a terminal shows, one on top of the other. The top one gets the keys; pages that
// don't fill the screen (menus, prompts) are drawn over those below.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tui/grid.h"
#include "tui/keys.h"
#include "tui/wake.h"

namespace sonde::tui {

class Pages;

class Page {
 public:
  virtual ~Page() = default;
  virtual void draw(Grid& grid) = 0;
  virtual void on_key(const Key& key, Pages& pages) = 0;
  /// This page is on top, and the wake has rung, or it came to be on top.
  virtual void on_wake(Pages& pages) { (void)pages; }
  /// Leaves what is below visible.
  [[nodiscard]] virtual bool is_overlay() const { return false; }
};

class Pages {
 public:
  Pages() = default;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  /// From the top down: pages may use what those below have.
  ~Pages();
  void push(std::unique_ptr<Page> page) { pages_.push_back(std::move(page)); }
  /// Takes the top one away. It may ask for that itself: it lives until its key is done.
  void pop();
  void quit() { quits_ = true; }
  [[nodiscard]] bool ended() const { return quits_ || pages_.empty(); }

  [[nodiscard]] Grid draw(size_t rows, size_t columns) const;
  void on_key(const Key& key);
  void on_wake();
  /// For threads that pages have work done by.
  [[nodiscard]] const Wake& wake() const { return wake_; }
  /// One line over the last row until the next key.
  void say(std::string message) { message_ = std::move(message); }
  [[nodiscard]] Page* top() const { return pages_.empty() ? nullptr : pages_.back().get(); }

 private:
  Wake wake_;  // pages' threads ring it
  std::vector<std::unique_ptr<Page>> pages_, leaving_;
  std::string message_;
  bool quits_ = false;
};

}  // namespace sonde::tui
