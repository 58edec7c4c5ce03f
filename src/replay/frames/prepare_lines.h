// Reads the source lines of all frames of a session, before they are requested one by one. Objects,
// and the units of each, are read in parallel.
#pragma once

#include "replay/session.h"

namespace sonde {

void prepare_lines(const Session& session);

}  // namespace sonde
