// InlinedLines: the lines of frames where functions are inlined. The innermost function has the
// line of the address itself, which Symbolizer::srcline knows; each function around it has the line
// of the call inside it:
//
//   skip_blanks (inlined)   text.c:12    the address
//   read (inlined)          text.c:40    calls skip_blanks
//   parse                   main.c:7     calls read
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "replay/session.h"

namespace sonde {

class InlinedLines {
 public:
  explicit InlinedLines(bool full_paths) : full_paths_(full_paths) {}

  /// Finds the lines of the session's frames from `first` on.
  void grow(const Session& session, size_t first);
  /// "text.c:40"; empty for a frame that calls nothing inlined, or where the line is not known.
  [[nodiscard]] std::string_view of(FrameId frame) const;
  void clear() { lines_.clear(); }

 private:
  struct Expanded;
  void add(const Session& session, const Expanded& place);

  bool full_paths_;
  std::map<FrameId, std::string> lines_;
};

}  // namespace sonde
