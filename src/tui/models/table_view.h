// TableView: navigates a table: the cursor, what is unfolded, what is on the screen. Pure model,
// drawn by TablePainter.
//
// A place is a row and a line of it: line 0 is the row, further ones are its call tree's. Lines are
// counted only from the cursor and from the top of the screen, never over the whole table, so that
// "unfold everything" in a table of a hundred thousand rows costs no more than one screen.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tui/models/row_selection.h"
#include "tui/models/tree_lines.h"
#include "tui/terminal/keys.h"

namespace sonde::tui {

class TableView {
 public:
  explicit TableView(const view::Table& table);

  struct Place {
    size_t row = 0;  // in choice().rows()
    size_t line = 0;
    bool operator==(const Place&) const = default;
    auto operator<=>(const Place&) const = default;
  };

  [[nodiscard]] const view::Table& table() const { return *table_; }
  [[nodiscard]] const RowSelection& choice() const { return choice_; }
  [[nodiscard]] bool empty() const { return choice_.rows().empty(); }
  [[nodiscard]] const Place& cursor() const { return cursor_; }
  /// The table row at a place.
  [[nodiscard]] uint32_t row_at(const Place& place) const { return choice_.rows()[place.row]; }
  /// The content of a tree line; null for line 0.
  [[nodiscard]] const TreeLine* tree_line(const Place& place);
  /// The note at a place below a row of a hierarchy ("no entry >= 5.00%"); empty elsewhere.
  [[nodiscard]] std::string_view note(const Place& place) const {
    return place.line == 0 ? std::string_view() : note_of(row_at(place));
  }

  // Moving.
  void set_height(size_t lines);
  void move(ptrdiff_t lines);
  void page(ptrdiff_t pages) {
    move(pages * static_cast<ptrdiff_t>(height_ > 1 ? height_ - 1 : 1));
  }
  void to_first();
  void to_last();
  void to(const Place& place);
  /// The places on the screen, from its top.
  [[nodiscard]] std::vector<Place> visible();
  /// Advances to the place below; false at the end.
  [[nodiscard]] bool next(Place& place);

  // Unfolding.
  /// Whether a row has anything to unfold: rows of a hierarchy, or a call tree.
  [[nodiscard]] bool has_inside(size_t row);
  [[nodiscard]] bool is_open(size_t row);
  bool toggle();              // at the cursor; false if there is nothing to unfold
  void open_row(bool whole);  // the cursor's, optionally with its whole tree
  void open_all(bool open);
  void open_hottest();  // and moves the cursor there

  // Which rows, in which order. The cursor stays on its row if that is still visible.
  void filter(TextMatch match);
  void sort(std::optional<RowSelection::Sorting> sorting);
  /// Whether any text of a table row matches.
  [[nodiscard]] bool matches(uint32_t row, const TextMatch& match) const {
    return choice_.row_matches(row, match);
  }
  /// Goes to the next match in direction `step`; false if there is none.
  bool search(const TextMatch& match, ptrdiff_t step);
  /// Limits the number of visible rows.
  void limit(size_t rows);

  // Live data: another table of the same kind replaces this one.
  //
  //   auto standing = view.leave();   // while the old table's trees are still valid
  //   …                               // the view must not be used here
  //   view.show(next, standing);
  //
  // Filter, order and folding state persist, also for rows that disappear for a while. The cursor
  // stays on its row and the row on its screen line; a cursor that never left the first row stays
  // on whatever row is first.
  struct Standing {
    bool stays_first = true;
    std::string row, call;       // by name
    size_t line = 0, above = 0;  // within the row, and on the screen above the cursor
  };
  [[nodiscard]] Standing leave();
  void show(const view::Table& table, const Standing& kept);

 private:
  struct Fold {
    std::unique_ptr<TreeLines> tree;
    bool touched = false;  // by the user: must not be discarded
  };
  [[nodiscard]] std::string_view note_of(uint32_t row) const;
  /// Whether the row is in a hierarchy and has something below it.
  [[nodiscard]] bool has_level(uint32_t row) const {
    return choice_.has_below(row) || !note_of(row).empty();
  }
  /// Null if the row has no tree.
  TreeLines* tree_of(uint32_t row);
  [[nodiscard]] bool tree_is_open(uint32_t row) const;
  [[nodiscard]] size_t lines_of(size_t row);
  bool previous(Place& place);
  void scroll_to_cursor();
  struct Unfolded {
    bool open = false;
    std::vector<std::string> calls;  // of the tree, if the user touched it
  };
  void reopen(const std::unordered_map<std::string, uint32_t>& rows, const std::string& name,
              const Unfolded& was);
  void stand(const std::unordered_map<std::string, uint32_t>& rows, const Standing& kept);
  template <typename Change>
  void keep_cursor(const Change& change);

  const view::Table* table_;
  RowSelection choice_;
  Place cursor_, top_;
  size_t height_ = 1;
  bool all_open_ = false;
  std::unordered_map<uint32_t, bool> open_;  // trees of rows; default: all_open_
  std::unordered_map<uint32_t, Fold> folds_;
  std::unordered_map<std::string, Unfolded> unfolded_;  // of previously shown tables
  std::unordered_map<std::string, bool> open_rows_;     // of previous hierarchies
};

}  // namespace sonde::tui
