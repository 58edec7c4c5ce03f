// What a recording has to be compared by: its tasks and objects, as Counterparts wants them.
#pragma once

#include <string>
#include <vector>

#include "profile/counterparts.h"
#include "replay/session.h"

namespace sonde {

/// By DsoId: the samples of the tasks whose executable it is.
[[nodiscard]] std::vector<double> samples_by_executable(const Session& session);

/// `long_names`: objects have the names of `-v`, paths.
[[nodiscard]] ComparedSide compared_side(const Session& session, bool long_names);

}  // namespace sonde
