// The data type of a row in the report browser, field by field.
#pragma once

#include "report/browser/browser.h"
#include "view/data_layout.h"

namespace sonde::report {

/// The type that the instruction at a place touches, with all samples of the recording that touched
/// it in the same object; the first of `events` must have some. Errors say why there is none.
Result<view::DataLayout> make_layout(const OpenRecording& recording, const Frame& place,
                                     std::span<const EventId> events);

}  // namespace sonde::report
