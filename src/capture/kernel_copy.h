// --kcore: the kernel's code as it is while a recording is made, beside the recording.
//
//   perf.data/kcore_dir/kallsyms   the symbols
//                       modules    which modules stand where
//                       kcore      an ELF core file: the pages of code out of /proc/kcore, at their
//                                  addresses
//
// Code that the kernel patches while it runs (static keys, ftrace) and that modules and BPF bring
// can be disassembled from it later, and the symbols are those of this boot.
#pragma once

#include <string>

#include "base/error.h"

namespace sonde {

/// Error: kUnsupported where there is no kcore or it may not be read (CAP_SYS_RAWIO).
Result<> check_kcore_readable(const std::string& proc = "/proc");

/// Makes `directory` and the three files in it. Errors: kUnsupported for a kcore that isn't one or
/// that hides the kernel's addresses, kIo, kFailed where modules come and go all the time.
Result<> copy_kernel(const std::string& directory, const std::string& proc = "/proc");

}  // namespace sonde
