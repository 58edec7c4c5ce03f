// Values of kernel enumerators out of BTF (/sys/kernel/btf/vmlinux): what a print format means by a
// name that the kernel forgot to write as a number. Only right for recordings of the kernel whose
// BTF it is.
//
//   PrintProgram program = PrintProgram::compile(format, target);
//   if (!program.unresolved().empty()) { ... btf_constants(btf, program.unresolved()) ... compile
//   again }
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "event/print_fmt.h"

namespace sonde {

using Constants = std::map<std::string, int64_t, std::less<>>;

/// The values of those of `names` that are enumerators in `btf`; the first one, should a name have
/// several. One pass over the types, some milliseconds for a kernel. kCorrupt if it is no BTF;
/// damage behind the header ends the pass. The format: Documentation/bpf/btf.rst.
Result<Constants> btf_constants(Bytes btf, std::span<const std::string> names);

inline constexpr const char* kKernelBtf = "/sys/kernel/btf/vmlinux";

/// Like PrintProgram::compile; names that stay unknown are looked for in a BTF file. A file that is
/// not there or is damaged resolves nothing. The file is read only for a format that has such
/// names.
PrintProgram compile_with_btf(const TracepointFormat& format, const PrintTarget& target,
                              const std::string& btf_path);

}  // namespace sonde
