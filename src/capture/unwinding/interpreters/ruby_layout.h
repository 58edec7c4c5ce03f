// Where a build of CRuby keeps what the BPF stack walker reads of its threads and frames
// (bpf/programs/ruby_frames.bpf.h).
//
//   if (auto ruby = ruby_interpreter_of(elf)) … ruby->layout …
//
// An object contains an interpreter if it exports `ruby_version` and `ruby_current_vm_ptr`. The
// offsets are those of the structures in the version's own headers and sources (vm_core.h, iseq.h,
// iseq.c, RSTRING and RARRAY). A thread's state is thread-local data of the library; a Ruby that is
// an executable by itself has it elsewhere. Calls of the interpreter's loop are found in the code
// of `rb_vm_exec`: the function called puts the innermost frame into r15, which is the loop's
// register for it.
#pragma once

#include <linux/types.h>

#include <optional>
#include <string>

#include "bpf/programs/ruby_frames.h"
#include "elf/elf_file.h"

namespace sonde {

struct RubyInterpreter {
  std::string version;  // "3.1.2"
  std::optional<ruby_layout>
      layout;  // nothing: this version, or this way of building it, is not known
};

/// Of an x86-64 object; nullopt if it contains no interpreter.
[[nodiscard]] std::optional<RubyInterpreter> ruby_interpreter_of(const ElfFile& file);

}  // namespace sonde
