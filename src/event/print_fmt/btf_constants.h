// Values of kernel enumerators from BTF (/sys/kernel/btf/vmlinux): for names in a print format that
// the kernel forgot to write as numbers. Only valid for recordings of the kernel whose BTF it is.
//
//   PrintProgram program = PrintProgram::compile(format, target);
//   if (!program.unresolved().empty()) {
//     ... btf_constants(btf, program.unresolved()) ... compile again
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "event/print_fmt/print_fmt.h"

namespace sonde {

using Constants = std::map<std::string, int64_t, std::less<>>;

/// The values of those of `names` that are enumerators in `btf`; the first value if a name has
/// several. One pass over the types, a few milliseconds for a kernel. kCorrupt if it is not BTF;
/// damage after the header ends the pass. The format: Documentation/bpf/btf.rst.
Result<Constants> btf_constants(Bytes btf, std::span<const std::string> names);

inline constexpr const char* kKernelBtf = "/sys/kernel/btf/vmlinux";

/// Like PrintProgram::compile, but looks up unresolved names in a BTF file. A file that is missing
/// or damaged resolves nothing. The file is read only for a format that has such names.
PrintProgram compile_with_btf(const TracepointFormat& format, const PrintTarget& target,
                              const std::string& btf_path);

}  // namespace sonde
