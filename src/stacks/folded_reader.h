// Folded stacks, one per line: "outermost;…;innermost 12", or "… 12 15" with a second count, as
// comparisons have.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/loss.h"
#include "stacks/stack_profile.h"

namespace sonde {

struct FoldedOptions {
  /// Lines also become samples, with line numbers as times: for flame charts whose lines are in
  /// time order.
  bool keep_order = false;
};

/// Columns are "samples", or "before" and "after" if lines have two counts. The mark of a frame
/// ("_[k]") determines its kind and remains part of the name. Lines without a count are losses; a
/// text without a single good line is an error. `name`: of the file, for messages.
Result<StackProfile> read_folded(std::string_view text, const std::string& name, LossLedger& losses,
                                 FoldedOptions options = {});
/// The frame kind that the mark at the end of a name stands for.
[[nodiscard]] FrameKind kind_of_marked(std::string_view name);
/// Without that mark.
[[nodiscard]] std::string_view without_mark(std::string_view name);

}  // namespace sonde
