// The text of every frame as script prints it in call chains, formatted once per distinct frame:
// user frames are shown by their offset in the object, so one text serves all processes and
// samples. Addresses in no object may be anything, and many: writing one takes less time than
// fetching its text from memory.
//
//   \t            1159 leaf+0x30 (/usr/bin/spin)\n
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/session.h"
#include "script/fields.h"
#include "script/inlined_lines.h"

namespace sonde {

/// How symbols and objects are written, in chains as well as for single addresses.
struct FrameStyle {
  FieldSet fields;
  bool show_kernel_path = false;
  bool full_source_path = false;
  bool is_shown = false;  // by a terminal
};

/// "leaf+0x30 (/usr/bin/spin)" with the parts that the style selects, each preceded by a blank.
void append_place(const Session& session, const Frame& frame, const FrameStyle& style,
                  std::string& out);
/// The object's name as script shows it: its path; for a module of unknown build id, its name in
/// brackets, unless paths are requested; "[unknown]" if nothing was mapped.
std::string_view dso_text(const Session& session, DsoId dso, bool module_path);
/// The object's build id, raw. Recorders note those of objects that were sampled in; that of
/// another is read from its file. Not cached.
std::string build_id_of(const Session& session, DsoId dso);

class FrameTexts {
 public:
  /// Formats all frames of the session, in parallel.
  FrameTexts(const Session& session, const FrameStyle& style);
  /// Formats frames added since.
  void grow(const Session& session);
  /// Forgets all frames.
  void clear();
  /// Appends the texts of a chain's frames.
  void append(std::span<const FrameId> frames, std::string& out) const;

 private:
  /// Texts are copied in steps of this many bytes, so each chunk has that much padding at its end.
  static constexpr size_t kStep = 32;
  struct Text {
    const char* chars = nullptr;  // in one of the chunks; null: only an address, in no object
    uint64_t size = 0;            // or the address
  };
  static void put(char* to, const char* chars, size_t size);

  FrameStyle style_;
  InlinedLines inlined_;
  std::vector<std::unique_ptr<std::string>> chunks_;  // texts_ point into them
  std::vector<Text> texts_;                           // by FrameId
  std::string rest_;  // of the line of an address in no object, with padding
  size_t rest_size_ = 0;
};

}  // namespace sonde
