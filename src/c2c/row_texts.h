// What is known about the code of a row: names that need the session.
#pragma once

#include <string>

#include "c2c/cache_lines.h"
#include "profile/session_input.h"

namespace sonde::c2c {

class RowTexts {
 public:
  /// `verbose`: symbols come with their addresses, and with the letter of the symbols' source;
  /// objects with their paths.
  RowTexts(const Session& session, bool verbose)
      : session_(session), details_(session), verbose_(verbose) {}

  [[nodiscard]] uint32_t pid(const LineRow& row) const;
  /// "   1713:worker".
  [[nodiscard]] std::string thread(const LineRow& row) const;
  /// "[.] work", cut to `limit` characters if it is a name; 0: not cut.
  [[nodiscard]] std::string symbol(const LineRow& row, size_t limit) const;
  [[nodiscard]] bool has_symbol(const LineRow& row) const;
  [[nodiscard]] std::string object(const LineRow& row) const;
  [[nodiscard]] std::string source_line(const LineRow& row) const;

 private:
  [[nodiscard]] const Frame& code(const LineRow& row) const;

  const Session& session_;
  SessionInput details_;
  bool verbose_;
};

}  // namespace sonde::c2c
