#include "tui/pages/prompt.h"

#include <algorithm>

#include "tui/terminal/glyphs.h"

namespace sonde::tui {
namespace {

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

size_t LineEdit::before(size_t at) const {
  if (at > 0) --at;
  while (at > 0 && continues_character(text_[at])) --at;
  return at;
}

size_t LineEdit::behind(size_t at) const {
  if (at < text_.size()) ++at;
  while (at < text_.size() && continues_character(text_[at])) ++at;
  return at;
}

bool LineEdit::on_key(const Key& key) {
  auto erase = [this](size_t from, size_t to) {
    text_.erase(from, to - from);
    at_ = from;
  };
  if (key.is_control('u')) {
    erase(0, at_);
  } else if (key.is_control('w')) {
    size_t from = at_;
    while (from > 0 && text_[from - 1] == ' ') --from;
    while (from > 0 && text_[from - 1] != ' ') --from;
    erase(from, at_);
  } else if (key.is_control('a') || key.kind == Key::Kind::kHome) {
    at_ = 0;
  } else if (key.is_control('e') || key.kind == Key::Kind::kEnd) {
    at_ = text_.size();
  } else if (key.kind == Key::Kind::kBackspace) {
    erase(before(at_), at_);
  } else if (key.kind == Key::Kind::kDelete) {
    erase(at_, behind(at_));
  } else if (key.kind == Key::Kind::kLeft) {
    at_ = before(at_);
  } else if (key.kind == Key::Kind::kRight) {
    at_ = behind(at_);
  } else if (key.kind == Key::Kind::kCharacter && !key.control && !key.alt) {
    std::string typed;
    append_character(typed, key.character);
    text_.insert(at_, typed);
    at_ += typed.size();
  } else {
    return false;
  }
  return true;
}

Prompt::Prompt(const Theme& theme, std::string question, std::string text, bool regex, Hooks hooks)
    : theme_(theme),
      question_(std::move(question)),
      line_(std::move(text)),
      regex_(regex),
      hooks_(std::move(hooks)) {
  changed();
}

void Prompt::changed() {
  if (hooks_.on_change) remark_ = hooks_.on_change(line_.text(), regex_);
}

void Prompt::draw(Grid& grid) {
  size_t row = grid.rows() - 1;
  grid.fill(row, 0, grid.columns(), theme_.plain);
  std::string asked = question_ + (regex_ ? " (regular expression): " : ": ");
  size_t column = grid.put(row, 0, asked, theme_.titles);
  // In a long text, show the end: that is where one types.
  std::string_view text = line_.text();
  std::string_view head = text.substr(0, line_.at());
  size_t room = grid.columns() > column + 1 ? grid.columns() - column - 1 : 0;
  size_t hidden = columns_of(head) > room ? columns_of(head) - room : 0;
  for (size_t left = hidden; left > 0 && !text.empty();) {
    auto width = static_cast<size_t>(width_of(take_character(text)));
    left -= std::min(width, left);
  }
  size_t cursor = column + columns_of(head) - hidden;
  size_t end = grid.put(row, column, text, theme_.plain);
  grid.restyle(row, cursor, cursor + 1, Style{.reverse = true});
  size_t width = columns_of(remark_);
  if (end + 3 + width <= grid.columns())
    grid.put(row, grid.columns() - width - 1, remark_, theme_.note);
}

void Prompt::on_key(const Key& key, Pages& pages) {
  if (key.kind == Key::Kind::kEscape) {
    if (hooks_.on_cancel) hooks_.on_cancel();
    return pages.pop();
  }
  if (key.kind == Key::Kind::kEnter) {
    pages.pop();
    if (hooks_.on_accept) hooks_.on_accept(line_.text(), regex_, pages);
    return;
  }
  if (hooks_.takes_regex && key.is_control('r')) {
    regex_ = !regex_;
    return changed();
  }
  std::string before = line_.text();
  line_.on_key(key);
  if (line_.text() != before) changed();
}

}  // namespace sonde::tui
