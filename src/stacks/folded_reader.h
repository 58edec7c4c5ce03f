// Folded stacks, one a line: "outermost;…;innermost 12", or "… 12 15" with a second count after it,
// as comparisons have.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/loss.h"
#include "stacks/stack_profile.h"

namespace sonde {

struct FoldedOptions {
  /// Lines become samples, too, and their numbers the samples' times: for flame charts, where the
  /// order of the lines is that of time.
  bool keep_order = false;
};

/// Columns are "samples", or "before" and "after" where lines have two counts. Marks of frames
/// ("_[k]") say their kind and stay part of the name. Lines without a count are losses; a text
/// without one good line is an error. `name`: of the file, for messages.
Result<StackProfile> read_folded(std::string_view text, const std::string& name, LossLedger& losses,
                                 FoldedOptions options = {});
/// What the mark at the end of a frame's name says.
[[nodiscard]] FrameKind kind_of_marked(std::string_view name);
/// Without that mark.
[[nodiscard]] std::string_view without_mark(std::string_view name);

}  // namespace sonde
