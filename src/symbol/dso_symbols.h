// The symbols of one DSO: which source they came from, and how to convert an address inside the DSO
// to an address of the table (file offset to ELF address, or the KASLR offset).
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/env.h"
#include "elf/segment_map.h"
#include "machine/dso.h"
#include "symbol/guest_kernel.h"
#include "symbol/kallsyms.h"
#include "symbol/object_finder.h"
#include "symbol/symbol_table.h"

namespace sonde {

struct SymbolOptions {
  std::string symfs;        // --symfs: prefix of every path
  std::string vmlinux;      // -k
  std::string kallsyms;     // --kallsyms
  std::string buildid_dir;  // --buildid-dir, PERF_BUILDID_DIR; default ~/.debug
  bool demangle = true;
  bool demangle_kernel = false;
  bool ignore_vmlinux = false;
  bool full_source_path = false;  // srcline with full paths
  /// --debuginfod: the servers to ask for files that are not on this machine; empty for those of
  /// DEBUGINFOD_URLS. Not set: none is asked.
  std::optional<std::string> debuginfod;
  bool unverified = false;  // --unverified-symbols: any file at the path, for every recording
  PathTrust path_trust = PathTrust::kAny;
  GuestFiles guests;
  /// Whether functions that have no symbol get a name from their object and address, where call
  /// frame information tells of them. Not set: the command decides; if it does not, they don't.
  std::optional<bool> frame_functions;
  /// Whether objects are counted as lacking symbols where that gives functions no name at all.
  bool tell_of_nameless = false;
  const Bundle* bundle = nullptr;  // objects bundled with the recording
};

/// The trust in paths that the user and a recording of this host allow.
PathTrust path_trust_of(const SymbolOptions& options, const RecordedHost& host,
                        const Machine& machine);

/// Where to look for files, according to the options and the environment.
FinderOptions finder_options(const SymbolOptions& options, const Env& env);

struct DsoSymbols {
  SymbolTable own;                     // empty if `table` is shared
  const SymbolTable* table = nullptr;  // the table to search; null: no symbols
  std::optional<SegmentMap> segments;  // of an ELF file; else addresses are shifted by `slide`
  uint64_t slide = 0;                  // table address = address inside the DSO - slide
  std::string source;                  // the file, or a message saying why there is none
  char origin = '!';                   // perf's letter
  bool is_replaced = false;            // another build is now at the object's path
  bool is_missing = false;             // nothing here is known to be this object
  bool is_stripped = false;            // it is here, without the symbols of its own functions

  /// The address of this place in `table` and DWARF.
  [[nodiscard]] std::optional<uint64_t> to_table(uint64_t address) const;
  /// The inverse.
  [[nodiscard]] uint64_t from_table(uint64_t table_address) const;
};

/// Reads symbol tables. `load` may run for many DSOs at once; the kernel's symbol list is read
/// once, for the kernel and all modules.
class DsoSymbolLoader {
 public:
  DsoSymbolLoader(FinderOptions finder, SymbolOptions options, std::string kernel_release);
  /// `name_part`: see ElfSymbolOptions.
  [[nodiscard]] DsoSymbols load(const Dso& dso, std::string_view name_part = {}) const;
  /// Reads the kernel's symbols, for a kernel with this build id. Call before the first `load` of
  /// the kernel or a module, and not concurrently with another one. `with_modules`: addresses in
  /// modules, which differ from boot to boot, will be looked up. `addresses`: if given, only the
  /// symbols at these are created, out of a text of 112,000 lines; the others follow when
  /// rest_of_kernel() is called.
  using KernelAddresses = std::optional<std::span<const uint64_t>>;
  /// `name_part`: see ElfSymbolOptions.
  void prepare_kernel(const Dso& kernel, bool with_modules, KernelAddresses addresses,
                      std::string_view name_part = {});
  /// An upper bound for the number of symbols beyond those that prepare_kernel was asked for.
  [[nodiscard]] size_t rest_size() const { return rest_size_; }
  /// Whether there is known to be no symbol.
  [[nodiscard]] bool is_bare(uint64_t table_address) const {
    return std::ranges::binary_search(bare_addresses_, table_address);
  }
  /// All symbols of the kernel. Thread-safe; the first call creates them.
  [[nodiscard]] const SymbolTable& rest_of_kernel();
  [[nodiscard]] const ObjectFinder& finder() const { return finder_; }

 private:
  void take_symbols(FoundObject& found, std::string_view name_part, DsoSymbols& loaded) const;
  [[nodiscard]] DsoSymbols load_file(const Dso& dso, std::string_view name_part) const;
  [[nodiscard]] DsoSymbols load_jit(const Dso& dso) const;
  [[nodiscard]] DsoSymbols load_from_kernel(const Dso& dso) const;
  [[nodiscard]] DsoSymbols load_whole(const Dso& dso) const;
  [[nodiscard]] DsoSymbols load_guest(const Dso& dso, std::string_view name_part) const;
  [[nodiscard]] DsoSymbols load_guest_file(const Dso& dso, std::string_view name_part) const;
  [[nodiscard]] FoundObject find_in_guest(const Dso& dso) const;
  bool read_kallsyms(const std::string& path, const Dso& kernel, KernelAddresses addresses,
                     std::string_view name_part);
  [[nodiscard]] bool is_running_kernel(const Dso& kernel) const;
  void parse_around(std::span<const uint64_t> addresses);

  ObjectFinder finder_;
  SymbolOptions options_;
  std::string kernel_release_;
  std::unique_ptr<GuestKernels> guests_;
  std::optional<Kallsyms> kallsyms_;
  SymbolTable kernel_part_;               // the requested part of kallsyms
  std::vector<uint64_t> bare_addresses_;  // sorted
  size_t rest_size_ = 0;
  std::once_flag rest_made_;
  SymbolTable vmlinux_;
  const SymbolTable* kernel_table_ = nullptr;
  uint64_t kernel_slide_ = 0;
  std::string kernel_source_ = "kernel symbols were not requested";
  char kernel_origin_ = '!';
  bool names_modules_ = true;  // they are where the kernel's list says
};

}  // namespace sonde
