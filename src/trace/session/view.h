// From the options of `trace` to its view.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/session/options.h"
#include "trace/views/trace_locations.h"
#include "trace/views/trace_view.h"

namespace sonde {

/// The view options for a source with these events.
[[nodiscard]] Result<TraceViewOptions> view_options(const TraceOptions& options,
                                                    const std::vector<TracedEvent>& events,
                                                    const Env& env);
/// Whether a live trace sees every call that tells what becomes of the descriptors of its
/// processes: only then do the names that earlier calls gave them still hold.
[[nodiscard]] bool follows_descriptors(const TraceOptions& options);
/// The types of the kernel that made the recording, which has this release: the running kernel's
/// if it is the same. kUnsupported: --force-btf, but they are not here.
Result<BtfText> types_of_recording(const TraceOptions& options, const std::string& release);
/// Null if no address is shown.
[[nodiscard]] std::unique_ptr<TraceLocations> make_places(const TraceOptions& options,
                                                          const std::vector<TracedEvent>& events,
                                                          const std::string& kernel_release,
                                                          const std::string& arch,
                                                          const std::string& host_name,
                                                          const Env& env);

}  // namespace sonde
