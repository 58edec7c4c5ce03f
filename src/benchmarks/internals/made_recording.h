// A recording that is made up: mappings of real objects, and samples in each of them.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace sonde {

/// The objects that this process has mapped, in ascending order; at least one.
Result<std::vector<std::string>> own_objects();

/// In pipe format, in memory; to be read from its beginning. Mapping i is of object i, and they
/// begin again when there are no more.
Result<Fd> make_recording(const std::vector<std::string>& objects, unsigned mappings,
                          unsigned samples_per_mapping);

}  // namespace sonde
