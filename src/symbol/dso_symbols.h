// The symbols of one DSO: which source they came from, and how an address inside the DSO becomes an
// address of the table (file offset to ELF address, or the distance that a kernel was moved by
// KASLR).
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
  bool full_source_path = false;  // srcline with whole paths
  /// --debuginfod: the servers to ask for files that are not here; empty for those of
  /// DEBUGINFOD_URLS. Not given: none is asked.
  std::optional<std::string> debuginfod;
  bool recorded_here = false;      // the recording is of this machine
  const Bundle* bundle = nullptr;  // what came with the recording
};

/// Where files are looked for, by what the options and the environment say.
FinderOptions finder_options(const SymbolOptions& options, const Env& env);

struct DsoSymbols {
  SymbolTable own;                     // empty where `table` is shared
  const SymbolTable* table = nullptr;  // what is searched; null: no symbols
  std::optional<SegmentMap> segments;  // of an ELF file; else addresses are shifted by `slide`
  uint64_t slide = 0;                  // table address = address inside the DSO - slide
  std::string source;                  // the file, or the sentence why there is none
  char origin = '!';                   // perf's letter
  bool is_replaced = false;            // another build lies where the object was

  /// The address under which `table` and DWARF know this place.
  [[nodiscard]] std::optional<uint64_t> to_table(uint64_t address) const;
  /// The inverse.
  [[nodiscard]] uint64_t from_table(uint64_t table_address) const;
};

/// Reads symbol tables. `load` may run for many DSOs at once; the kernel's list of symbols is read
/// once, for all that is of the kernel.
class DsoSymbolLoader {
 public:
  DsoSymbolLoader(FinderOptions finder, SymbolOptions options, std::string kernel_release);
  /// `name_part`: see ElfSymbolOptions.
  [[nodiscard]] DsoSymbols load(const Dso& dso, std::string_view name_part = {}) const;
  /// Before the first `load` of the kernel or a module, and not at the same time as another one of
  /// these: the kernel's symbols for a kernel with this build id.
  /// `with_modules`: addresses of modules will be asked for, which differ from boot to boot.
  /// `addresses`: where given, of a text of 112,000 lines only the symbols at these are made; the
  /// others follow when rest_of_kernel() is called.
  using KernelAddresses = std::optional<std::span<const uint64_t>>;
  /// `name_part`: see ElfSymbolOptions.
  void prepare_kernel(const Dso& kernel, bool with_modules, KernelAddresses addresses,
                      std::string_view name_part = {});
  /// Whether there may be more symbols than those that prepare_kernel was asked for, and how many
  /// at the most.
  [[nodiscard]] size_t rest_size() const { return rest_size_; }
  /// Whether it is known that no symbol is there.
  [[nodiscard]] bool is_bare(uint64_t table_address) const {
    return std::ranges::binary_search(bare_addresses_, table_address);
  }
  /// All symbols of the kernel. From any thread; the first call makes them.
  [[nodiscard]] const SymbolTable& rest_of_kernel();
  [[nodiscard]] const ObjectFinder& finder() const { return finder_; }

 private:
  [[nodiscard]] DsoSymbols load_file(const Dso& dso, std::string_view name_part) const;
  [[nodiscard]] DsoSymbols load_jit(const Dso& dso) const;
  [[nodiscard]] DsoSymbols load_from_kernel(const Dso& dso) const;
  [[nodiscard]] DsoSymbols load_bpf(const Dso& dso) const;
  bool read_kallsyms(const std::string& path, const Dso& kernel, KernelAddresses addresses,
                     std::string_view name_part);
  void parse_around(std::span<const uint64_t> addresses);

  ObjectFinder finder_;
  SymbolOptions options_;
  std::string kernel_release_;
  std::optional<Kallsyms> kallsyms_;
  SymbolTable kernel_part_;               // what was asked for of kallsyms
  std::vector<uint64_t> bare_addresses_;  // sorted
  size_t rest_size_ = 0;
  std::once_flag rest_made_;
  SymbolTable vmlinux_;
  const SymbolTable* kernel_table_ = nullptr;
  uint64_t kernel_slide_ = 0;
  std::string kernel_source_ = "no kernel symbols were asked for";
  char kernel_origin_ = '!';
};

}  // namespace sonde
