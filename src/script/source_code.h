// `-F srccode`: the source line of an address, if the file is available.
//
//   |10           s = odd(s) + i;
//
// A line is printed only once while a thread stays on it, so lines must be made in order: a printer
// with this field is not used from several threads.
#pragma once

#include <string>
#include <string_view>

#include <tsl/robin_map.h>

#include "replay/session.h"
#include "symbol/source/source_lines.h"

namespace sonde {

class SourceCode {
 public:
  /// `is_shown`: by a terminal, for which the lines are made printable.
  SourceCode(const Session& session, bool is_shown)
      : session_(session), sources_(session.symbolizer()), is_shown_(is_shown) {}

  /// Appends the line and a newline; nothing if it is not known or was the thread's last line.
  void print(uint32_t tid, const Frame& frame, std::string& out);

 private:
  const Session& session_;
  SourceLines sources_;
  bool is_shown_;
  tsl::robin_map<uint32_t, SourcePlace> last_;  // by thread
};

}  // namespace sonde
