// The kernel's own mappings: its text, named "[kernel.kallsyms]_text" after the symbol at its
// start, so that readers can compute by how much the running kernel was relocated, and its modules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "abi/perf_event.h"
#include "base/bytes.h"
#include "symbol/guest_kernel.h"

namespace sonde {

struct KernelText {
  std::string symbol;  // _text, or _stext if kallsyms lacks it
  uint64_t start = 0, end = 0;
};

/// From the first lines of kallsyms and the size given by /proc/iomem; without the latter, kallsyms
/// is read on to _etext. Nothing if addresses are hidden (kptr_restrict).
std::optional<KernelText> kernel_text(const std::string& proc = "/proc");

struct KernelModule {
  std::string name;  // as in /proc/modules
  std::string path;  // its file, or "[name]" if that is not known
  uint64_t start = 0, size = 0;
};
std::vector<KernelModule> kernel_modules(const std::string& proc = "/proc");

/// Writes MMAP records for both, with the id block of `attr`.
void synthesise_kernel(const abi::EventAttr& attr, ByteBuilder& out);

/// The same for the guest that a process runs.
void synthesise_guest(const GuestLayout& guest, const abi::EventAttr& attr, ByteBuilder& out);

}  // namespace sonde
