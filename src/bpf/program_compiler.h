// Compiles a BPF program's source to an object with the user's clang, for an event that is a .c
// file. The settings are perf's (perf-config(1), "llvm.*"), so that a configuration that worked
// there works here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

struct CompilerSettings {
  /// --clang-path, llvm.clang-path; empty: the clang in $PATH, or one with a version in its name.
  std::string clang = {};
  std::string options = {};                          // --clang-opt, llvm.clang-opt
  std::string command = {};                          // llvm.clang-bpf-cmd-template; empty: ours
  std::optional<std::string> kernel_directory = {};  // llvm.kbuild-dir; "": don't look for one
  std::string llc_options = {};                      // llvm.opts: compile via llc
  bool keep_object = false;                          // llvm.dump-obj: PROG.o next to PROG.c
};

/// The object's bytes. The compiler's output goes to `note`, or into the error.
Result<std::vector<std::byte>> compile_program(const std::string& source,
                                               const CompilerSettings& settings,
                                               const std::function<void(std::string_view)>& note);

/// The number that programs for kprobes carry in section "version", from the output of uname -r:
/// "6.1.44" is 0x6012c.
[[nodiscard]] unsigned kernel_version_code(std::string_view release);

}  // namespace sonde
