// Splits the kernel's symbol list into lines and their fields.
//
//   KallsymsLines lines(text);
//   for (KallsymsLine line; lines.next(line);) …
#pragma once

#include <cstdint>
#include <string_view>

namespace sonde {

struct KallsymsLine {
  uint64_t address = 0;
  char type = 0;          // as in nm: 'T', 't', 'D' …
  std::string_view rest;  // the name and, after a tab, the module

  /// Text, weak text, data and bss, as perf accepts them; read-only data and absolute symbols are
  /// not code locations. '$' begins mapping symbols in ARM modules.
  [[nodiscard]] bool is_wanted() const {
    constexpr uint32_t kTypes =
        1u << ('t' - 'a') | 1u << ('w' - 'a') | 1u << ('d' - 'a') | 1u << ('b' - 'a');
    uint32_t letter = (static_cast<uint8_t>(type) | 0x20u) - 'a';
    return static_cast<uint8_t>(type) >= 'A' && letter < 26 && (kTypes >> letter & 1) != 0 &&
           rest[0] != '$';
  }
  [[nodiscard]] std::string_view name() const;
  /// In brackets; empty if the symbol belongs to the kernel itself.
  [[nodiscard]] std::string_view module() const;
};

class KallsymsLines {
 public:
  explicit KallsymsLines(std::string_view text) : text_(text) {}
  /// The next well-formed line; false at the end.
  bool next(KallsymsLine& line);
  /// The number of malformed lines so far.
  [[nodiscard]] uint64_t bad_lines() const { return bad_lines_; }

 private:
  std::string_view text_;
  size_t at_ = 0;
  uint64_t bad_lines_ = 0;
};

}  // namespace sonde
