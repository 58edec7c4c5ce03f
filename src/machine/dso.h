// DSOs: the objects that code comes from. One entry per distinct path and file (containers have
// other files under the same paths, and an upgrade replaces one); mappings and frames hold its id.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "base/ids.h"
#include "perfdata/file_identity.h"

namespace sonde {

using DsoId = Id<struct DsoTag>;

/// What kind of object a mapping shows, decided once, from the path that the record carries.
enum class DsoKind : uint8_t {
  kFile,       // an ELF file, or any other mapped file
  kKernel,     // [kernel.kallsyms], [guest.kernel.kallsyms]
  kModule,     // a kernel module: a .ko path, or [name]
  kVdso,       // [vdso], [vdso32], [vdsox32]
  kVsyscall,   // [vsyscall]
  kJit,        // executable anonymous memory: symbols come from /tmp/perf-PID.map
  kJitDump,    // generated code that a jitdump holds: addresses are places in the dump
  kNoSymbols,  // [heap], [stack], SysV memory: nothing to resolve
  kBpf,        // bpf_prog_…: one ksymbol is the whole object
};

struct Dso {
  std::string path;        // long name: as mapped; /tmp/perf-PID.map for kJit
  std::string short_name;  // what reports show: base name; "[JIT] tid PID" for kJit; "[vdso]"
  std::string build_id;    // raw bytes; empty where the recording has none
  DsoKind kind = DsoKind::kFile;
  bool is_kernel_side = false;  // kernel, module, BPF
  bool is_guest = false;
  uint32_t pid =
      0;  // of the process that mapped it first: where to look for /proc/PID/root, perf maps
  std::vector<uint32_t> pids;    // some of the processes that mapped it, that one first
  uint64_t mount_namespace = 0;  // inode of that process's; 0 where the recording does not say
  FileIdentity file;             // not known where records don't carry it
  /// Several build ids are recorded for its path, and none tells which is whose.
  bool is_ambiguous = false;

  // kKernel only: where the recorder says _text (or _stext) was, to relocate a vmlinux or a foreign
  // kallsyms.
  std::string reference_symbol;  // "_text"
  RuntimeAddr reference_address;
};

class DsoTable {
 public:
  /// Finds or makes the DSO of a path; `kind` counts only when it is made.
  DsoId find_or_add(std::string_view path, DsoKind kind, bool kernel_side, bool guest = false);
  /// Makes the DSO of what was added to a process' jitdump: another one than those before of that
  /// path. Reports show it as the process' generated code.
  DsoId add_jit_dump(std::string_view path, uint32_t pid);
  /// The same of one file of that path. A file that is not known is the first of its path, and the
  /// first of a path of which no file is known yet is the one that now is.
  DsoId find_or_add(std::string_view path, DsoKind kind, const FileIdentity& file);
  /// The first of this path.
  [[nodiscard]] DsoId find(std::string_view path) const;
  /// All of this path, in the order in which they came.
  [[nodiscard]] std::vector<DsoId> all_of(std::string_view path) const;
  /// The entry that stands for this object: the first of its path with this build id.
  [[nodiscard]] DsoId same_object(DsoId id) const;
  /// Whether some path has several entries.
  [[nodiscard]] bool any_path_twice() const { return !next_of_path_.empty(); }
  [[nodiscard]] const Dso& operator[](DsoId id) const { return dsos_[id.index()]; }
  Dso& edit(DsoId id) { return dsos_[id.index()]; }
  [[nodiscard]] size_t size() const { return dsos_.size(); }

 private:
  std::deque<Dso> dsos_;
  tsl::robin_map<std::string, uint32_t> by_path_;
  tsl::robin_map<uint32_t, uint32_t> next_of_path_;
};

/// The kind of a user mapping by the path in its record: "//anon", "[vdso]", "[heap]",
/// "/usr/bin/xz" …
DsoKind user_mapping_kind(std::string_view path, bool executable);

}  // namespace sonde
