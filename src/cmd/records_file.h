// A recording of what was measured in one go: one event, and records that are all there.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/env.h"
#include "base/error.h"
#include "perfdata/event_table.h"
#include "perfdata/features.h"

namespace sonde {

/// Writes it with the features of this machine and `more`; a file that is there becomes FILE.old.
/// Its size in bytes.
Result<uint64_t> write_records_file(const std::string& path, const EventDesc& event, Bytes records,
                                    const Env& env, Features more = {});

}  // namespace sonde
