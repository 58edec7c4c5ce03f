// Where a build of CPython keeps what the BPF stack walker reads of its threads and frames
// (bpf/programs/python_frames.bpf.h).
//
//   if (auto python = python_interpreter_of(elf)) … python->layout …
//
// An object contains an interpreter if it exports `_PyRuntime`. Since 3.11 `Py_Version` there tells
// which; before, the functions of the public API do, which say since when they exist. The
// offsets are those of the structures that the version's own headers declare (internal/pycore_*.h);
// since 3.13 the interpreter states most of them itself, at the beginning of `_PyRuntime`
// (_Py_DebugOffsets).
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "bpf/programs/python_frames.h"
#include "elf/elf_file.h"

namespace sonde {

struct PythonInterpreter {
  uint32_t version = 0;  // PY_VERSION_HEX, of 3.8 to 3.10 0x03080000 …; 0: before 3.8
  std::optional<python_layout> layout;  // nothing: this version is not known

  /// "3.11", "before 3.8".
  [[nodiscard]] std::string version_text() const;
};

/// Of an x86-64 object; nullopt if it contains no interpreter.
[[nodiscard]] std::optional<PythonInterpreter> python_interpreter_of(const ElfFile& file);

}  // namespace sonde
