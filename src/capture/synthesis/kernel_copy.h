// --kcore: the kernel's code as it is during a recording, stored with the recording.
//
//   perf.data/kcore_dir/kallsyms   the symbols
//                       modules    which modules are loaded where
//                       kcore      an ELF core file: the code pages of /proc/kcore, at their
//                                  addresses
//
// Code that the kernel patches at run time (static keys, ftrace) and code of modules and BPF
// programs can be disassembled from it later, and the symbols are those of this boot.
#pragma once

#include <string>

#include "base/error.h"

namespace sonde {

/// Error: kUnsupported if there is no kcore or it may not be read (CAP_SYS_RAWIO).
Result<> check_kcore_readable(const std::string& proc = "/proc");

/// Creates `directory` and the three files in it. Errors: kUnsupported if kcore is not a core file
/// or hides the kernel's addresses, kIo, kFailed if modules keep being loaded or removed.
Result<> copy_kernel(const std::string& directory, const std::string& proc = "/proc");

}  // namespace sonde
