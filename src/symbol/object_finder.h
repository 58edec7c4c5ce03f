// Finding the file that has an object's symbols: the object itself, its separate debug file, a
// build-id cache, another mount namespace, the memory of the process. A file whose build id differs
// from the recorded one is never used.
//
//   ObjectFinder finder(options);
//   FoundObject found = finder.find({.path = "/usr/lib/libc.so.6", .build_id = id, .pid = 4711});
//   if (found.usable()) ... found.load_symbols() ...
//   else ... found.explain() ...      // what was tried, and why it was no use
//
// find() is const and may be called from many threads.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "elf/elf_file.h"
#include "machine/dso.h"
#include "symbol/elf_symbols.h"
#include "symbol/symbol_table.h"

namespace sonde {

class Bundle;

/// Where a file was found; the order of the search is that of this list.
enum class ObjectSource : uint8_t {
  kDebugLink,          // .gnu_debuglink of the object, in its directory, .debug/ and the debug root
  kBuildIdCache,       // BUILDID_DIR/.build-id/xx/rest/elf (or vdso)
  kBuildIdCacheDebug,  // BUILDID_DIR/.build-id/xx/rest/debug
  kFedoraDebug,        // /usr/lib/debug/PATH.debug
  kUbuntuDebug,        // /usr/lib/debug/PATH
  kBuildIdDebug,       // /usr/lib/debug/.build-id/xx/rest.debug
  kSystemPath,         // the path itself (below symfs, or in the mount namespace of the process)
  kOpenEmbeddedDebug,  // DIR/.debug/NAME
  kMixedUpUbuntuDebug,  // /usr/lib/debug/usr/PATH
  kProcessMemory,       // the vdso of our own process, where the build ids agree
  kMappedFile,  // /proc/PID/map_files/RANGE or /proc/PID/exe: a deleted file that a process still
                // holds
  kVmlinux,     // --vmlinux or the usual places
  kDebuginfod,  // fetched from a server
};
/// The letter by which perf's verbose report tells the source ('d' the object itself, 'B' the cache
/// …).
char symtab_origin(ObjectSource source);
std::string_view describe(ObjectSource source);

struct FinderOptions {
  std::string symfs;               // --symfs: every path is looked up below it
  std::string buildid_dir;         // --buildid-dir; see build_id_directory; empty: no cache
  const Bundle* bundle = nullptr;  // what came with the recording goes before the cache
  std::string debug_root = "/usr/lib/debug";
  std::string proc = "/proc";
  std::string vmlinux;                   // --vmlinux: an explicit file
  bool ignore_vmlinux_build_id = false;  // --ignore-vmlinux-buildid
  bool debuginfod = false;               // ask servers for what is not here (symbol/debuginfod.h)
  std::string object_cache;              // see ObjectCache; empty: none
  bool recorded_here = false;  // of this machine: where build ids are missing, inodes tell
};

struct ObjectQuery {
  std::string path = {};            // as recorded, maybe with " (deleted)"; or "[vdso]"
  std::string build_id = {};        // raw bytes; empty where the recording has none
  std::vector<uint32_t> pids = {};  // processes that map it, for /proc/PID/root; maybe gone
  uint64_t mount_namespace = 0;     // of theirs, where it is known
  uint64_t inode = 0;               // of the file that was mapped; 0: not known
  bool by_inode = false;            // without a build id, only a file with that inode will do
};
ObjectQuery query_of(const Dso& dso);

struct Candidate {
  enum class Verdict : uint8_t {
    kSymbols,  // has .symtab, used
    kRuntime,  // the object as it ran, without .symtab: used for segments, dynamic symbols and PLT
    kNotThere,
    kNotElf,
    kNoBuildId,  // the recording has a build id, the file has none
    kBuildIdDiffers,
    kOtherFile,   // no build id to tell, but another file than the one that was mapped
    kNothingNew,  // fine, but adds nothing to what was found before
  };
  ObjectSource source;
  std::string path;
  Verdict verdict;
  std::string detail;  // the reason in words, where there is one
};

struct FoundObject {
  std::optional<ElfFile> symbols;  // has .symtab
  std::optional<ElfFile> runtime;  // as it ran, unless it is `symbols` itself
  std::string symbols_path;        // of `symbols`, else of `runtime`; where the symbols come from
  std::string runtime_path;        // the object's own file, empty where only a debug file was found
  ObjectSource source = ObjectSource::kSystemPath;  // of symbols_path
  std::vector<Candidate> tried;

  [[nodiscard]] bool usable() const { return symbols || runtime; }
  /// The segments by which file offsets become ELF addresses: the runtime file's.
  [[nodiscard]] const SegmentMap& segments() const {
    return runtime ? runtime->segments() : symbols->segments();
  }
  /// Some file was refused because it is another build than the one that was recorded.
  [[nodiscard]] bool is_replaced() const;
  /// One line per candidate, for -v.
  [[nodiscard]] std::string explain() const;
  /// Moves the files into the table; segments() is gone after it. Requires usable().
  SymbolTable load_symbols(const ElfSymbolOptions& options = {});
};

class ObjectFinder {
 public:
  explicit ObjectFinder(FinderOptions options) : options_(std::move(options)) {}

  /// The files for a user object or a kernel module.
  [[nodiscard]] FoundObject find(const ObjectQuery& query) const;
  /// The kernel's image, by --vmlinux, the cache, and the usual places under /boot, /usr/lib/debug
  /// and /lib/modules. `release` is the kernel's (uname -r, or the recording's OSRELEASE).
  [[nodiscard]] FoundObject find_vmlinux(std::string_view build_id, std::string_view release) const;
  /// BUILDID_DIR/[kernel.kallsyms]/ID/kallsyms for a kernel that ran elsewhere or earlier; empty
  /// where there is none.
  [[nodiscard]] std::string find_cached_kallsyms(std::string_view build_id) const;
  /// The file in which LineIndex finds DWARF for an object: its separate debug file, or itself;
  /// empty where neither has any.
  [[nodiscard]] std::string find_debug_info(const ObjectQuery& query) const;

  [[nodiscard]] const FinderOptions& options() const { return options_; }

 private:
  FinderOptions options_;
};

}  // namespace sonde
