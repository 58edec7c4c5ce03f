// Decodes the bytes that a terminal sends into keys and clicks. Pure: no descriptor, no clock.
//
//   KeyDecoder decoder;
//   for (const Key& key : decoder.take("\033[A")) …    // kUp
//
// A sequence may arrive in several pieces. A lone ESC could also begin one: take() keeps it, and
// settle() says that nothing followed (the terminal was silent for a moment). Sequences: ECMA-48
// (CSI), xterm's control sequences (SS3, modifiers, SGR mouse mode 1006).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::tui {

struct Key {
  enum class Kind : uint8_t {
    kCharacter,
    kEnter,
    kTab,
    kBackTab,
    kBackspace,
    kEscape,
    kUp,
    kDown,
    kLeft,
    kRight,
    kPageUp,
    kPageDown,
    kHome,
    kEnd,
    kInsert,
    kDelete,
    kF1,
    kPress,    // of the mouse's first button
    kWheelUp,  // of the mouse
    kWheelDown,
    kUnknown,
  };
  Kind kind = Kind::kUnknown;
  char32_t character = 0;  // for kCharacter
  bool control = false, alt = false;
  size_t row = 0, column = 0;  // of the mouse, from 0
  bool operator==(const Key&) const = default;

  static Key of(char32_t character) { return {Kind::kCharacter, character}; }
  static Key with_control(char32_t character) { return {Kind::kCharacter, character, true}; }
  [[nodiscard]] bool is(char32_t plain) const {
    return kind == Kind::kCharacter && character == plain && !control && !alt;
  }
  [[nodiscard]] bool is_control(char32_t with) const {
    return kind == Kind::kCharacter && character == with && control;
  }
};

class KeyDecoder {
 public:
  [[nodiscard]] std::vector<Key> take(std::string_view bytes);
  /// What an unfinished sequence means if nothing follows.
  [[nodiscard]] std::vector<Key> finalize();
  [[nodiscard]] bool waits() const { return !pending_.empty(); }

 private:
  /// Removes and returns the first key of pending_; nullopt if it is incomplete.
  std::optional<Key> next();
  std::optional<Key> next_plain();
  std::optional<Key> next_csi();
  static Key plain_byte(unsigned char byte);
  static Key csi(std::string_view parameters, char last);
  static Key mouse(std::string_view parameters, bool pressed);

  std::string pending_;
};

}  // namespace sonde::tui
