// A timeline as one JSON document, for other programs and for pages that display it.
//
//   {"version":1,"start_ns":…,"end_ns":…,
//    "states":["running","runnable","sleeping","uninterruptible","stopped"],
//    "run_fields":["start_ns","duration_ns","thread","cut"],
//    "cpus":[{"cpu":0,"busy_ns":…,"watched_ns":…,"runs":[[0,5000,3,0],…]},…],
//    "slice_fields":["start_ns","duration_ns","state","cpu","waker","stack","waker_stack","cut"],
//    "threads":[{"tid":…,"pid":…,"name":…,"process":…,"runs":…,"state_ns":[…],"slices":[[…],…]},…],
//    "stacks":["outermost;…;innermost",…]}
//
// "ended" of a thread is when it exited, -1 if that was not seen. Where events are missing, nothing
// is known of a CPU:
//    "unknown_fields":["start_ns","duration_ns","cpu"],"unknown":[[…],…],"partial":…
// where "partial" says why waits are not known at all ("only CPU 0 of 4 was recorded"), or is
// empty.
//
// If threads have input and output: "subject":"io", and other states and slice_fields. If they have
// calls: "subject":"calls",
//    "slice_fields":["start_ns","duration_ns","depth","function","cut"],
//    "functions":[[name, object],…]
// where depth 0 is the outermost call that is known, and `cut` that it was not seen to be entered
// or to return.
//
// Times of runs and slices count from start_ns. thread and waker are indices into `threads`, stack
// and waker_stack indices into `stacks`; -1 means none. cut is 1 if the recording begins or ends
// inside the span. Threads that are not shown have no slices.
#pragma once

#include "base/sink.h"
#include "view/timeline.h"

namespace sonde {

void write_timeline_json(Sink& out, const view::Timeline& timeline);
/// "running", "runnable" …
[[nodiscard]] std::string_view state_name(view::TaskState state);
/// "disk read", …
[[nodiscard]] std::string_view io_name(view::IoKind kind);

}  // namespace sonde
