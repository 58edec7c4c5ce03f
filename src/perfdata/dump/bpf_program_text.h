// The BPF programs in a recording's header, as `report --header` lists them:
//
//   # bpf_prog_info 4: bpf_prog_57cd311f2e27366b_func addr 0xffffffffc0003728 size 19
#pragma once

#include "base/sink.h"
#include "perfdata/header/features.h"

namespace sonde {

/// One line per program; a program with subprograms gets a line for itself and one for each.
void write_bpf_programs(Sink& out, const Features& features, ByteOrder order);

}  // namespace sonde
