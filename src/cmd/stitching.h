// What `--stitch-lbr` says of recordings that it can do nothing for.
#pragma once

#include "base/sink.h"
#include "perfdata/recording.h"

namespace sonde {

void say_about_stitching(const Recording& recording, Sink& err);

}  // namespace sonde
