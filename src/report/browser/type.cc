#include "report/browser/type.h"

#include <algorithm>

#include "datatype/type_profile.h"

namespace sonde::report {

Result<view::DataLayout> make_layout(const OpenRecording& recording, const Frame& place,
                                     std::span<const EventId> events) {
  datatype::SessionTypes& types = *recording.data_types;
  DataPlace touched = types.place_of(place);
  if (touched.type_size == 0) {
    std::string note = place.dso.valid() ? types.note_on(place.dso) : std::string();
    if (!note.empty()) return fail(ErrorCode::kNotFound, "{}", note);
    return fail(ErrorCode::kNotFound, "no type of data is known for this row: {}", touched.type);
  }
  datatype::TypeProfile profile(recording.session, types,
                                [&](const Frame& frame) { return frame.dso == place.dso; });
  std::vector<view::DataLayout> found =
      profile.layouts(events, [&](std::string_view name) { return name == touched.type; });
  if (found.empty())
    return fail(ErrorCode::kNotFound, "no sample of this event touched {}", touched.type);
  return std::move(found.front());
}

}  // namespace sonde::report
