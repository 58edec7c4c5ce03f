// The text of every frame as script prints it in call chains, made once per distinct frame: user
// frames are shown by their offset in the object, so one text serves all processes and all samples.
//
//   \t            1159 leaf+0x30 (/usr/bin/spin)\n
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay/session.h"
#include "script/fields.h"

namespace sonde {

/// How symbols and objects are written, for chains and for single addresses alike.
struct FrameStyle {
  FieldSet fields;
  bool show_kernel_path = false;
};

/// "leaf+0x30 (/usr/bin/spin)" with the parts that the style asks for, each with a blank before it.
void append_place(const Session& session, const Frame& frame, const FrameStyle& style,
                  std::string& out);
/// The object's name as script shows it: its path; the name in brackets of a module whose build id
/// is not known, unless paths are asked for; "[unknown]" where nothing was mapped.
std::string_view dso_text(const Session& session, DsoId dso, bool module_path);

class FrameTexts {
 public:
  /// Formats all frames of the session, in parallel.
  FrameTexts(const Session& session, const FrameStyle& style);
  /// Those that have come since.
  void grow(const Session& session);
  [[nodiscard]] std::string_view operator[](FrameId frame) const {
    const Span& span = spans_[frame.index()];
    return {chunks_[span.chunk].data() + span.begin, span.size};
  }

 private:
  struct Span {
    uint32_t chunk = 0, begin = 0, size = 0;
  };
  FrameStyle style_;
  std::vector<std::string> chunks_;
  std::vector<Span> spans_;
};

}  // namespace sonde
