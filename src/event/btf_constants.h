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

namespace sonde {

using Constants = std::map<std::string, int64_t, std::less<>>;

/// The values of those of `names` that are enumerators in `btf`; the first one, should a name have
/// several. One pass over the types, some milliseconds for a kernel. kCorrupt if it is no BTF;
/// damage behind the header ends the pass. The format: Documentation/bpf/btf.rst.
Result<Constants> btf_constants(Bytes btf, std::span<const std::string> names);

}  // namespace sonde
