// Symbolizer: from (DSO, address inside it) to a symbol. It finds each DSO's file or text source
// once, loads its table once, and assigns 32-bit symbol ids that are unique over all DSOs.
//
// `load(dsos)` reads the tables of many DSOs in parallel; `find` is then a binary search, and
// thread-safe. If a DSO has no symbols, the reason is kept for -v and for the report's hint.
// Objects whose functions were named by address are counted as a loss at the end.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "dwarf/line_index.h"
#include "machine/machine.h"
#include "symbol/dso_symbols.h"
#include "symbol/inlined_symbols.h"
#include "symbol/interpreted/interpreted_code.h"
#include "symbol/jit_objects.h"
#include "symbol/kernel_core.h"

namespace sonde {

/// Properties of a symbol. `start` and `end` are in the same space as Mapping::to_object.
struct SymbolInfo {
  DsoId dso;
  uint64_t start = 0;
  uint64_t end = 0;
  std::string_view name;  // demangled according to the options; valid for the Symbolizer's life
  uint8_t binding = 0;    // STB_*: global, local, weak
  uint8_t type = 0;       // STT_*: function, object
};

struct AddressExtent {
  uint64_t start = 0, size = 0;
};

/// A line of a source file, with the path that the compiler recorded.
struct SourcePlace {
  std::string file;
  uint32_t line = 0;
  std::string directory = {};  // of the compilation; empty: not known
  bool operator==(const SourcePlace& other) const {
    return file == other.file && line == other.line;
  }
};

/// A file with debug information, and the location of what it refers to.
struct DebugInfo {
  ElfFile file;
  DwarfLocations places;
};

class Symbolizer {
 public:
  /// `kernel_release` is the recorded kernel's (OSRELEASE), to find its vmlinux. `jit` has the
  /// objects of kind kJitDump, `interpreted` the source files of interpreters; both must outlive
  /// this object.
  Symbolizer(const Machine& machine, SymbolOptions options, const Env& env,
             std::string_view kernel_release, const JitObjects* jit = nullptr,
             const InterpretedCode* interpreted = nullptr);
  ~Symbolizer();

  /// Reads the symbol tables of these DSOs, in parallel; loaded ones cost nothing. Callers that
  /// know which addresses of the kernel and its modules they will look up can pass them: other
  /// symbols are then not created until find() needs one. With `only`, objects whose symbols cannot
  /// have that name are loaded without symbols.
  void load(std::span<const DsoId> dsos,
            std::optional<std::span<const uint64_t>> kernel_addresses = std::nullopt,
            std::string_view only = {});
  /// The addresses inside a DSO that may belong to symbols of this name.
  [[nodiscard]] std::vector<AddressExtent> extents_of(DsoId dso, std::string_view name) const;
  /// The symbol at an address inside a DSO; invalid if there is none, or if the DSO was not loaded.
  [[nodiscard]] SymbolId find(DsoId dso, uint64_t address) const;
  [[nodiscard]] SymbolInfo info(SymbolId symbol) const;
  /// All symbols of a DSO, in address order; none if it was not loaded, or has none.
  [[nodiscard]] std::vector<SymbolInfo> symbols_of(DsoId dso) const;
  /// info().start alone, without producing the name.
  [[nodiscard]] uint64_t start_of(SymbolId symbol) const;
  /// Demangles on first use; cheap afterwards.
  [[nodiscard]] std::string_view name(SymbolId symbol) const;
  /// The name by which recordings are compared: a function that is named by its address is the same
  /// only in the same build.
  [[nodiscard]] std::string identity(SymbolId symbol) const;
  [[nodiscard]] DsoId dso_of(SymbolId symbol) const;

  /// Reads what an object's debug information says about these addresses, in parallel: afterwards
  /// the functions below only need to look it up.
  void prepare_lines(DsoId dso, std::span<const uint64_t> addresses, LineParts parts) const;
  /// Appends the linkage names of the functions inlined at an address, innermost first.
  void inlined_at(DsoId dso, uint64_t address, std::vector<std::string_view>& names) const;
  /// The functions at an address with their lines, innermost first, as LineIndex::inline_frames()
  /// has them; empty without debug information. The views live as long as the symbolizer.
  [[nodiscard]] std::vector<InlineFrame> inline_frames(DsoId dso, uint64_t address) const;
  /// The linkage name of the innermost function there, even if nothing was inlined; empty if debug
  /// information does not say.
  [[nodiscard]] std::string_view function_at(DsoId dso, uint64_t address) const;
  /// Interns such a function as a symbol: its address and size are those of the enclosing function.
  /// Not thread-safe.
  SymbolId inlined(SymbolId into, std::string_view linkage_name);
  /// The name of a symbol in reports: "skip_blanks (inlined)", or just the name.
  [[nodiscard]] std::string_view label(SymbolId symbol) const;

  /// Where the symbols came from, or why there are none: "/usr/lib/debug/.build-id/…", "no symbols
  /// found …".
  [[nodiscard]] std::string_view source_of(DsoId dso) const;
  /// perf's origin letter: 'k' kallsyms, 'v' vmlinux, 'd' .debug …; '!' without symbols (-v).
  [[nodiscard]] char origin_of(DsoId dso) const;

  /// "file.c:12" of an address, as perf's srcline prints it; the object's line index is built on
  /// first use.
  [[nodiscard]] std::string srcline(DsoId dso, uint64_t address) const;
  /// The file alone; empty if unknown.
  [[nodiscard]] std::string srcfile(DsoId dso, uint64_t address) const;

  /// The line in full; nullopt if unknown.
  [[nodiscard]] std::optional<SourcePlace> source_place(DsoId dso, uint64_t address) const;
  /// The users who decide what source_place() says: whose files, directories and links the object
  /// and its debug information are. If root reads a copy of the object (in the cache, in a
  /// container), that says nothing of them: kUnknownOwner. Not cached.
  [[nodiscard]] std::vector<uint32_t> owners_of(DsoId dso) const;
  static constexpr uint32_t kUnknownOwner = UINT32_MAX;
  /// The file of the object itself, as it ran; empty if it is not on this machine. Not cached.
  [[nodiscard]] std::string object_path(DsoId dso) const;
  /// The files of the object, opened. Not cached.
  [[nodiscard]] FoundObject object_files(DsoId dso) const;
  /// The image of the recorded kernel, which has its code. Not cached.
  [[nodiscard]] FoundObject kernel_image(DsoId dso) const;
  /// The debug information of an object; for the kernel, that of its image. kNotFound if there is
  /// none. Not cached.
  [[nodiscard]] Result<DebugInfo> debug_info(DsoId dso) const;
  /// The recorded kernel's memory. Not cached.
  [[nodiscard]] Result<KernelCore> kernel_core() const;
  /// The code that a compiler generated; null if the object is not a jitdump.
  [[nodiscard]] const JitObject* generated_code(DsoId dso) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde
