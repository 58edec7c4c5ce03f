// Reads the source lines of all frames of a session before somebody asks for them one by one:
// objects, and the units of each, side by side.
#pragma once

#include "replay/session.h"

namespace sonde {

void prepare_lines(const Session& session);

}  // namespace sonde
