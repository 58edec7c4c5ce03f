// A recording of something measured in one go: one event, and all its records at hand.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/env.h"
#include "base/error.h"
#include "perfdata/header/event_table.h"
#include "perfdata/header/features.h"

namespace sonde {

/// Writes it with this machine's features and `more`; an existing file becomes FILE.old. Returns
/// its size in bytes.
Result<uint64_t> write_records_file(const std::string& path, const EventDesc& event, Bytes records,
                                    const Env& env, Features more = {});

}  // namespace sonde
