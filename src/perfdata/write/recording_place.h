// The place that a recording is written to: what is there already, what becomes of it, and who else
// is writing there.
//
// Only what is a recording is ever replaced or removed:
//
//   a file that begins with perf.data's magic, or is empty: what a run that failed early left;
//   a directory of files `data`, which is such a file, `data.N`, and kcore_dir or kcore_dir__PID
//   with kallsyms, modules and kcore; with anything else in it, it is none.
//
// All else is refused and left as it is. A directory is removed file by file, by these names, never
// through a link. Links that other users made are not followed (base/output/overwriting.h). Devices
// and FIFOs are written to as they are.
//
// Whoever writes a recording holds a lock (flock) on its file, or on `data` of its directory, so
// that a second one neither writes to it nor moves it away. The kernel releases the lock when the
// process ends, however it does. perf knows nothing of it.
#pragma once

#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/sys.h"

namespace sonde {

/// Whether a recording can be written to `path`, and what is there to PATH.old if it `keeps` that.
/// Changes nothing: for the time before anything is started.
Result<> check_recording_place(const std::string& path, bool keeps = true);

/// Renames perf.data to perf.data.old (directories, too), whose place it takes. An empty or absent
/// `path` is left alone.
Result<> keep_previous(const std::string& path);

/// Removes the recording at `path`, so that another kind (file, directory) can be written there; an
/// empty file only if it is another user's, who could read what is written to it.
Result<> clear_recording_place(const std::string& path, bool for_directory);

/// Removes a recording, if it is one and nobody writes to it. Nothing there is no error.
Result<> remove_recording(const std::string& path);

/// The file `path` of a new recording, empty, open and locked; made with mode 0600.
Result<Fd> open_recording_file_anew(Sys& sys, const std::string& path);

/// Removes a copy of the kernel (kcore_dir), of which nothing may be missing but much may be.
Result<> remove_kernel_copy(const std::string& directory);

}  // namespace sonde
