// ProbedCode: the code that probes are put into: a program, a library, the kernel or a module, with
// its symbols and its debug information, wherever that is found (the object itself, its debug file,
// the build-id cache, debuginfod; of the kernel also -k's vmlinux).
//
//   ProbedCode code = TRY(ProbedCode::open({.executable = "ls"}, {.finder = …, .path = "/bin"}));
//   auto plans = TRY(plan_probes(request, code, {}));
//
// Opening finds the file and nothing more: symbols and debug information are read when they are
// asked for. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "elf/elf_file.h"
#include "probe/source/code_symbols.h"
#include "probe/source/name_list.h"
#include "symbol/object_finder.h"

namespace sonde {

class DebugCode;
class KernelTypes;

/// What the user points at: -x, -m, -k, -s, --target-ns.
struct ProbeTarget {
  std::string executable = {};   // -x: a path, or a name in PATH; empty: the kernel
  std::string module = {};       // -m: a module's name or path
  std::string vmlinux = {};      // -k
  std::string source_root = {};  // -s: prefix of source paths
  std::string symfs = {};
  int namespace_pid = 0;  // --target-ns: `executable` is looked up in this process's root
};

/// How probes are chosen and named: --no-inlines, --max-probes, --externs, --range.
struct PlanOptions {
  bool no_inlines = false;
  uint32_t max_probes = 128;
  bool with_externs = false;  // -V: global variables too
  bool with_ranges = false;   // -V: where each is valid
};

/// Where to look for files: finder_options(), and PATH.
struct CodeSearch {
  FinderOptions finder;
  std::string path = {};
};

class ProbedCode {
 public:
  /// kNotFound if there is no such file or module.
  static Result<ProbedCode> open(const ProbeTarget& target, const CodeSearch& search);
  ProbedCode(ProbedCode&&) noexcept;
  ProbedCode& operator=(ProbedCode&&) noexcept;
  ~ProbedCode();

  /// The object as uprobe_events needs it; empty for the kernel and its modules.
  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] bool in_kernel() const;
  /// "nfsd"; empty for the kernel itself and for programs.
  [[nodiscard]] const std::string& module() const;
  /// The group of events that have none: "probe_libc" for a library, "probe" for the kernel.
  [[nodiscard]] std::string default_group() const;
  /// For messages: "/usr/bin/ls", "the kernel", "module nfsd".
  [[nodiscard]] std::string description() const;

  /// The object, the module's file or vmlinux; null for a kernel of which only kallsyms is known.
  [[nodiscard]] const ElfFile* file() const;
  /// EM_*: the object's, or that of this machine.
  [[nodiscard]] uint16_t machine() const;
  [[nodiscard]] const CodeSymbols& symbols() const;
  /// Their names as the options show them, all aliases of an address included; empty without
  /// symbols. Those of a large file come from the disk cache, or go there.
  [[nodiscard]] NameList shown_names(const DemangleOptions& demangle = {}) const;
  /// symbols() at the addresses of debug information: those of a running kernel are elsewhere.
  [[nodiscard]] const CodeSymbols& linked_symbols() const;
  /// kNotFound if there is no debug information; the message says how to get it.
  [[nodiscard]] Result<DebugCode*> debug() const;
  /// The function around an address of debug information, as linked_symbols() has it.
  [[nodiscard]] std::optional<CodeSymbol> linked_function_at(uint64_t address) const;
  /// The types of the kernel or the module, without debug information. kNotFound for programs, and
  /// without BTF.
  [[nodiscard]] Result<KernelTypes*> kernel_types() const;
  /// Where a source file is that debug information names, below -s.
  [[nodiscard]] std::string source_path(const std::string& path) const;
  /// Its text; `directory` is that of the compilation. An error says why it is not read.
  [[nodiscard]] Result<std::string> source(const std::string& path,
                                           std::string_view directory) const;
  /// The file with the debug information; empty if there is none.
  [[nodiscard]] const std::string& debug_path() const;
  /// What the user can do about missing debug information, for the end of a message.
  [[nodiscard]] std::string debug_advice() const;

 private:
  struct State;
  explicit ProbedCode(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
