// What `--stitch-lbr` says about recordings that it does not apply to.
#pragma once

#include "base/sink.h"
#include "perfdata/read/recording.h"

namespace sonde {

void warn_about_stitching(const Recording& recording, Sink& err);

}  // namespace sonde
