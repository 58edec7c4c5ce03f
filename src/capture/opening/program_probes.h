// The probes that a user's BPF program is attached to, and the instructions that fetch its
// arguments there, as the name of its section asks for them (bpf/program_section.h).
#pragma once

#include <linux/bpf.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bpf/program_section.h"
#include "probe/probe_definition.h"
#include "probe/source/probed_code.h"

namespace sonde {

/// Places at which the program can be the same.
struct ProgramProbe {
  std::string event;  // as the section names it; several of one program may have the same
  std::vector<ProbePlace> places;
  std::vector<bpf_insn> prologue;  // empty: the program has no arguments
};

/// Where arguments are in different registers, the program needs another prologue, and the probe
/// another event. None for a tracepoint.
[[nodiscard]] Result<std::vector<ProgramProbe>> plan_program_probes(
    const ProgramSection& section, const CodeSearch& search,
    const std::function<void(std::string_view)>& note);

}  // namespace sonde
