// A recording as JSON, sample by sample in time order: what `data convert --to-json` writes.
//
// The members are perf's; white space is not: each sample is on one line.
#pragma once

#include "base/sink.h"
#include "replay/session.h"

namespace sonde {

void write_data_json(Sink& out, const Session& session);

}  // namespace sonde
