// What a layout for Propeller is made of: a recording's branches, and the object's own map of its
// basic blocks, symbols and debug information.
#pragma once

#include "export/recordings/propeller.h"
#include "replay/session.h"

namespace sonde {

struct PropellerResult {
  PropellerLayout layout;
  /// A line each, without a newline: what was left out, how much, and what would help.
  std::vector<std::string> left_out;
};

/// kNotFound if the object is not here, or has no map of its basic blocks or no symbol table.
[[nodiscard]] Result<PropellerResult> lay_out_for_propeller(const Session& session,
                                                            const BranchProfile::Object& object);

}  // namespace sonde
