// What is damaged about a recording, as comment lines of a heading.
#pragma once

#include <string_view>

#include "base/loss.h"
#include "base/sink.h"

namespace sonde::render {

/// Nothing if the recording is whole. `file` is named if there are several.
void write_damage(Sink& out, const LossLedger& losses, std::string_view file = {});

}  // namespace sonde::render
