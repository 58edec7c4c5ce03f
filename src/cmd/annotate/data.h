// `annotate --data-type`: the data types that samples touched, field by field.
#pragma once

#include <functional>
#include <vector>

#include "base/env.h"
#include "cmd/annotate/flags.h"
#include "replay/session.h"

namespace sonde::annotation {

/// `columns`: events shown side by side, one element per table. `wanted` says which places in code
/// count.
Result<int> annotate_data(const Session& session, const Options& options,
                          const std::vector<std::vector<EventId>>& columns,
                          const std::function<bool(const Frame&)>& wanted, Env& env);

}  // namespace sonde::annotation
