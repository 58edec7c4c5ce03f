// What `top` shows of functions themselves: the code of one, and the symbols of all objects.
#pragma once

#include "base/sink.h"
#include "top/profile.h"

namespace sonde::top {

/// --sym-annotate: the code of every function with that name, each instruction with its share of
/// the recent samples, as `annotate` prints it; a line that says why if there is none. An error is
/// one of replaying recent samples.
Result<> write_annotated_code(LiveProfile& profile, const TopOptions& options, Sink& out);

/// -D: the objects that were mapped, with perf's words, and the symbols of those that samples fell
/// on. Addresses are those inside the object; the kernel's are absolute.
void write_symbols(const Session& session, Sink& out);

}  // namespace sonde::top
