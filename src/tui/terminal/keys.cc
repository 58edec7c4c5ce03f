#include "tui/terminal/keys.h"

#include "base/text.h"
#include "tui/terminal/glyphs.h"

namespace sonde::tui {
namespace {

constexpr char kEsc = 27;
constexpr size_t kMaxSequenceLength = 64;

Key key(Key::Kind kind) {
  return {kind};
}

Key of_letter(char last) {
  switch (last) {
    case 'A':
      return key(Key::Kind::kUp);
    case 'B':
      return key(Key::Kind::kDown);
    case 'C':
      return key(Key::Kind::kRight);
    case 'D':
      return key(Key::Kind::kLeft);
    case 'H':
      return key(Key::Kind::kHome);
    case 'F':
      return key(Key::Kind::kEnd);
    case 'Z':
      return key(Key::Kind::kBackTab);
    case 'P':
      return key(Key::Kind::kF1);
    case 'M':
      return key(Key::Kind::kEnter);
    default:
      return key(Key::Kind::kUnknown);
  }
}

Key of_number(uint64_t number) {
  switch (number) {
    case 1:
    case 7:
      return key(Key::Kind::kHome);
    case 2:
      return key(Key::Kind::kInsert);
    case 3:
      return key(Key::Kind::kDelete);
    case 4:
    case 8:
      return key(Key::Kind::kEnd);
    case 5:
      return key(Key::Kind::kPageUp);
    case 6:
      return key(Key::Kind::kPageDown);
    case 11:
      return key(Key::Kind::kF1);
    default:
      return key(Key::Kind::kUnknown);
  }
}

}  // namespace

Key KeyDecoder::plain_byte(unsigned char byte) {
  switch (byte) {
    case '\r':
    case '\n':
      return key(Key::Kind::kEnter);
    case '\t':
      return key(Key::Kind::kTab);
    case '\b':
    case 0x7f:
      return key(Key::Kind::kBackspace);
    case kEsc:
      return key(Key::Kind::kEscape);
    default:
      return byte < 0x20 ? Key::with_control(static_cast<char32_t>(byte == 0 ? ' ' : byte + 0x60))
                         : Key::of(byte);
  }
}

Key KeyDecoder::mouse(std::string_view parameters, bool pressed) {
  std::vector<std::string_view> words = split(parameters, ';');
  if (words.size() != 3) return key(Key::Kind::kUnknown);
  auto button = parse_number(words[0]), column = parse_number(words[1]),
       row = parse_number(words[2]);
  if (!button || !column || !row || *column == 0 || *row == 0) return key(Key::Kind::kUnknown);
  Key made;
  made.row = *row - 1;
  made.column = *column - 1;
  // Bits 2 to 4 are modifiers, 5 is motion.
  uint64_t what = *button & ~uint64_t{0x1c};
  if (pressed && what == 0) made.kind = Key::Kind::kPress;
  if (pressed && what == 64) made.kind = Key::Kind::kWheelUp;
  if (pressed && what == 65) made.kind = Key::Kind::kWheelDown;
  return made;
}

Key KeyDecoder::csi(std::string_view parameters, char last) {
  if (parameters.starts_with('<') && (last == 'M' || last == 'm'))
    return mouse(parameters.substr(1), last == 'M');
  std::vector<std::string_view> words = split(parameters, ';');
  Key made = last == '~' ? of_number(parse_number(words.empty() ? "" : words[0]).value_or(0))
                         : of_letter(last);
  if (words.size() > 1) {
    uint64_t modifiers = parse_number(words[1]).value_or(1);
    if (modifiers == 0 || modifiers > 16) modifiers = 1;
    made.alt = ((modifiers - 1) & 2) != 0;
    made.control = ((modifiers - 1) & 4) != 0;
  }
  return made;
}

/// pending_ begins with ESC [.
std::optional<Key> KeyDecoder::next_csi() {
  size_t end = 2;
  while (end < pending_.size() && pending_[end] >= 0x20 && pending_[end] < 0x40) ++end;
  if (end == pending_.size()) {
    if (end < kMaxSequenceLength) return std::nullopt;
    pending_.clear();
    return key(Key::Kind::kUnknown);
  }
  Key made = csi(std::string_view(pending_).substr(2, end - 2), pending_[end]);
  pending_.erase(0, end + 1);
  return made;
}

std::optional<Key> KeyDecoder::next_plain() {
  auto first = static_cast<unsigned char>(pending_[0]);
  if (first < 0x80) {
    pending_.erase(0, 1);
    return plain_byte(first);
  }
  size_t size = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (pending_.size() < size) return std::nullopt;
  std::string_view rest = pending_;
  Key made = Key::of(take_character(rest));
  pending_.erase(0, pending_.size() - rest.size());
  return made;
}

std::optional<Key> KeyDecoder::next() {
  if (pending_[0] != kEsc) return next_plain();
  if (pending_.size() == 1) return std::nullopt;
  if (pending_[1] == '[') return next_csi();
  if (pending_[1] == 'O') {
    if (pending_.size() == 2) return std::nullopt;
    Key made = of_letter(pending_[2]);
    pending_.erase(0, 3);
    return made;
  }
  if (pending_[1] == kEsc) {
    pending_.erase(0, 1);
    return key(Key::Kind::kEscape);
  }
  pending_.erase(0, 1);
  std::optional<Key> made = next_plain();
  if (made)
    made->alt = true;
  else
    pending_.insert(0, 1, kEsc);
  return made;
}

std::vector<Key> KeyDecoder::take(std::string_view bytes) {
  pending_ += bytes;
  std::vector<Key> keys;
  while (!pending_.empty()) {
    std::optional<Key> made = next();
    if (!made) break;
    keys.push_back(*made);
  }
  return keys;
}

std::vector<Key> KeyDecoder::finalize() {
  std::vector<Key> keys;
  if (pending_.empty()) return keys;
  bool was_escape = pending_[0] == kEsc;
  std::string rest = pending_.substr(1);
  pending_.clear();
  keys.push_back(key(was_escape ? Key::Kind::kEscape : Key::Kind::kUnknown));
  for (const Key& more : take(rest)) keys.push_back(more);
  pending_.clear();
  return keys;
}

}  // namespace sonde::tui
