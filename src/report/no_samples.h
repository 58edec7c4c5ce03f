// What commands say that show samples where there are none.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/env.h"

namespace sonde::report {

/// `input`: the recording. `left_out`: samples that are in it, which the options leave out. Returns
/// the status: 1, or 0 under the name perf, as scripts know it.
int say_no_samples(Env& env, std::string_view input, uint64_t left_out);

}  // namespace sonde::report
