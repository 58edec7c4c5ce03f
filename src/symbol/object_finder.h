// Finds the file that has an object's symbols: the object itself, its separate debug file, a
// build-id cache, another mount namespace, the memory of the process. A file whose build id differs
// from the recorded one is never used.
//
//   ObjectFinder finder(options);
//   FoundObject found = finder.find({.path = "/usr/lib/libc.so.6", .build_id = id, .pid = 4711});
//   if (found.usable()) ... found.load_symbols() ...
//   else ... found.explain() ...      // what was tried, and why it was no use
//
// find() is const and thread-safe.
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
#include "symbol/path_trust.h"
#include "symbol/symbol_table.h"

namespace sonde {

class Bundle;

/// Where a file was found, in search order.
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
  kProcessMemory,       // the vdso of our own process, if the build ids match
  kMappedFile,  // /proc/PID/map_files/RANGE or /proc/PID/exe: a deleted file that a process still
                // holds
  kVmlinux,     // --vmlinux or the usual places
  kDebuginfod,  // fetched from a server
};
/// The letter of the source in perf's verbose report ('d' the object itself, 'B' the cache …).
char symtab_origin(ObjectSource source);
std::string_view describe(ObjectSource source);

struct FinderOptions {
  std::string symfs;               // --symfs: every path is looked up below it
  std::string buildid_dir;         // --buildid-dir; see build_id_directory; empty: no cache
  const Bundle* bundle = nullptr;  // objects bundled with the recording, searched before the cache
  std::string debug_root = "/usr/lib/debug";
  std::string proc = "/proc";
  std::string vmlinux;                   // --vmlinux: an explicit file
  bool ignore_vmlinux_build_id = false;  // --ignore-vmlinux-buildid
  bool debuginfod = false;   // ask servers for what is not on this machine (symbol/debuginfod.h)
  std::string object_cache;  // see ObjectCache; empty: none
  PathTrust path_trust = PathTrust::kAny;  // of objects without a recorded build id
};

struct ObjectQuery {
  std::string path = {};            // as recorded, possibly with " (deleted)"; or "[vdso]"
  std::string build_id = {};        // raw bytes; empty if the recording has none
  std::vector<uint32_t> pids = {};  // processes that map it, for /proc/PID/root; may have exited
  uint64_t mount_namespace = 0;     // of these processes, if known
  uint64_t inode = 0;               // of the file that was mapped; 0: not known
  bool by_inode = false;            // without a build id, accept only a file with that inode
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
    kOtherFile,   // no build id to compare, but not the file that was mapped
    kNothingNew,  // fine, but adds nothing to what was already found
  };
  ObjectSource source;
  std::string path;
  Verdict verdict;
  std::string detail;  // the reason in words, if there is one
};

struct FoundObject {
  std::optional<ElfFile> symbols;  // has .symtab
  std::optional<ElfFile> runtime;  // as it ran, unless it is `symbols` itself
  std::string symbols_path;        // of `symbols`, else of `runtime`; the source of the symbols
  std::string runtime_path;        // the object's own file; empty if only a debug file was found
  ObjectSource source = ObjectSource::kSystemPath;  // of symbols_path
  std::vector<Candidate> tried;

  [[nodiscard]] bool usable() const { return symbols || runtime; }
  /// The segments that map file offsets to ELF addresses: the runtime file's.
  [[nodiscard]] const SegmentMap& segments() const {
    return runtime ? runtime->segments() : symbols->segments();
  }
  /// Whether a file was rejected because it is not the recorded build.
  [[nodiscard]] bool is_replaced() const;
  /// One line per candidate, for -v.
  [[nodiscard]] std::string explain() const;
  /// Moves the files into the table; segments() is invalid afterwards. Requires usable().
  SymbolTable load_symbols(const ElfSymbolOptions& options = {});
};

class ObjectFinder {
 public:
  explicit ObjectFinder(FinderOptions options) : options_(std::move(options)) {}

  /// Finds the files for a user object or a kernel module.
  [[nodiscard]] FoundObject find(const ObjectQuery& query) const;
  /// Finds the kernel's image, by --vmlinux, the cache, and the usual places under /boot,
  /// /usr/lib/debug and /lib/modules. `release` is the kernel's (uname -r, or the recording's
  /// OSRELEASE).
  [[nodiscard]] FoundObject find_vmlinux(std::string_view build_id, std::string_view release) const;
  /// BUILDID_DIR/[kernel.kallsyms]/ID/kallsyms for a kernel that ran elsewhere or earlier; empty if
  /// there is none.
  [[nodiscard]] std::string find_cached_kallsyms(std::string_view build_id) const;
  /// The file in which LineIndex finds DWARF for an object: its separate debug file, or the object
  /// itself; empty if neither has any.
  [[nodiscard]] std::string find_debug_info(const ObjectQuery& query) const;

  [[nodiscard]] const FinderOptions& options() const { return options_; }

 private:
  FinderOptions options_;
};

}  // namespace sonde
