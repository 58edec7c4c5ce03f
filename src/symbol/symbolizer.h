// Symbolizer: from (DSO, address inside it) to a symbol. It finds each DSO's file or text source
// once, loads its table once, and hands out 32-bit symbol ids that are unique over all DSOs.
//
// `load(dsos)` reads the tables of many DSOs in parallel; `find` afterwards is a binary search,
// safe from many threads. A DSO that has no symbols is remembered with the reason, for -v and for
// the report's hint.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "machine/machine.h"

namespace sonde {

using SymbolId = Id<struct SymbolTag>;

struct SymbolOptions {
  std::string symfs;        // --symfs: prefix of every path
  std::string vmlinux;      // -k
  std::string kallsyms;     // --kallsyms
  std::string modules_dir;  // -m
  std::string buildid_dir;  // --buildid-dir, PERF_BUILDID_DIR; default ~/.debug
  bool demangle = true;
  bool demangle_kernel = false;
  bool ignore_vmlinux = false;
  bool use_kernel = true;  // -K hides kernel symbols elsewhere; false: don't load any
};

/// What is known of a symbol. `start` and `end` are in the same space as Mapping::to_object.
struct SymbolInfo {
  DsoId dso;
  uint64_t start = 0;
  uint64_t end = 0;
  std::string_view name;  // demangled as the options say; valid for the Symbolizer's life
  char binding = 'g';     // g global, l local, w weak, u unique, for -v and script
};

class Symbolizer {
 public:
  Symbolizer(const Machine& machine, SymbolOptions options, const Env& env, LossLedger& losses);
  ~Symbolizer();

  /// Reads the symbol tables of these DSOs, in parallel; those that are loaded already cost
  /// nothing.
  void load(std::span<const DsoId> dsos);
  /// The symbol at an address inside a DSO; invalid where there is none. The DSO must be loaded.
  [[nodiscard]] SymbolId find(DsoId dso, uint64_t address) const;
  [[nodiscard]] SymbolInfo info(SymbolId symbol) const;
  /// Demangles on first use; cheap afterwards.
  [[nodiscard]] std::string_view name(SymbolId symbol) const;
  [[nodiscard]] DsoId dso_of(SymbolId symbol) const;

  /// Where the symbols came from, or why there are none: "/usr/lib/debug/.build-id/…", "no symbols
  /// found …".
  [[nodiscard]] std::string_view source_of(DsoId dso) const;
  /// 'k' kallsyms, 'v' vmlinux, 'd' .debug …: perf's origin letter, '!' where there are no symbols
  /// (-v).
  [[nodiscard]] char origin_of(DsoId dso) const;

  /// "file.c:12" of an address, as perf's srcline prints it; the object's line index is built on
  /// first use.
  [[nodiscard]] std::string srcline(DsoId dso, uint64_t address) const;
  [[nodiscard]] std::string srcfile(DsoId dso, uint64_t address) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde
