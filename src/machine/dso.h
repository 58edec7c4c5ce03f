// DSOs: the objects that contain code. One entry per distinct path and file (containers have
// different files at the same path, and an upgrade replaces a file); mappings and frames refer to
// it by id.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tsl/robin_map.h>

#include "base/ids.h"
#include "perfdata/read/file_identity.h"

namespace sonde {

using DsoId = Id<struct DsoTag>;

/// The kind of a mapped object, determined once, from the path in the record.
enum class DsoKind : uint8_t {
  kFile,       // an ELF file, or any other mapped file
  kKernel,     // [kernel.kallsyms], [guest.kernel.kallsyms]
  kModule,     // a kernel module: a .ko path, or [name]
  kVdso,       // [vdso], [vdso32], [vdsox32]
  kVsyscall,   // [vsyscall]
  kJit,        // executable anonymous memory: symbols come from /tmp/perf-PID.map
  kJitDump,    // generated code from a jitdump: addresses are offsets in the dump
  kNoSymbols,  // [heap], [stack], SysV memory: nothing to resolve
  kBpf,        // bpf_prog_…: one ksymbol is the whole object
  kMarker,     // no object: its name stands in call chains where something is missing
};

struct Dso {
  std::string path;        // long name: as mapped; /tmp/perf-PID.map for kJit
  std::string short_name;  // what reports show: base name; "[JIT] tid PID" for kJit; "[vdso]"
  std::string build_id;    // raw bytes; empty if the recording has none
  DsoKind kind = DsoKind::kFile;
  bool is_kernel_side = false;  // kernel, module, BPF
  bool is_guest = false;
  /// The first process that mapped it: for /proc/PID/root and perf maps. Of a guest's object, the
  /// virtual machine's process; 0: the recording does not tell its guests apart.
  uint32_t pid = 0;
  std::vector<uint32_t> pids;    // some of the processes that mapped it, `pid` first
  uint64_t mount_namespace = 0;  // inode of that of `pid`; 0 if not recorded
  FileIdentity file;             // unknown if records don't carry it
  /// Several build ids are recorded for its path, and nothing says which belongs to which file.
  bool is_ambiguous = false;

  // kKernel only: the recorded address of _text (or _stext), to relocate a vmlinux or a foreign
  // kallsyms.
  std::string reference_symbol;  // "_text"
  RuntimeAddr reference_address;

  /// kBpf only: where programs of this name were loaded, in order of time. Objects' addresses are
  /// those of the kernel here.
  struct Program {
    RuntimeAddr start, end;
    auto operator<=>(const Program&) const = default;
  };
  std::vector<Program> programs;
};

class DsoTable {
 public:
  /// Finds or creates the DSO of a path; `kind` is used only on creation.
  DsoId find_or_add(std::string_view path, DsoKind kind, bool kernel_side);
  /// The same for an object of the guest that process `pid` runs: an object of its own, which no
  /// path alone finds.
  DsoId find_or_add_guest(std::string_view path, DsoKind kind, uint32_t pid, bool kernel_side);
  /// The object at this path in the guest; invalid if none was added.
  [[nodiscard]] DsoId find_guest(std::string_view path, uint32_t pid) const;
  /// Creates a DSO for what was appended to a process's jitdump, separate from earlier ones of that
  /// path. Reports show it as the process's generated code.
  DsoId add_jit_dump(std::string_view path, uint32_t pid);
  /// The same for one particular file at that path. An unknown file refers to the first entry of
  /// its path; if no file is known yet for a path, its first entry becomes that of the given file.
  DsoId find_or_add(std::string_view path, DsoKind kind, const FileIdentity& file);
  /// The first entry of this path.
  [[nodiscard]] DsoId find(std::string_view path) const;
  /// All entries of this path, in order of creation.
  [[nodiscard]] std::vector<DsoId> all_of(std::string_view path) const;
  /// The last entry of this path.
  [[nodiscard]] DsoId last_of(std::string_view path) const;
  /// By entry, the representative of its object: the first entry of its path with its build id.
  [[nodiscard]] std::vector<DsoId> same_objects() const;
  /// Whether any path has several entries.
  [[nodiscard]] bool any_path_twice() const { return !next_of_path_.empty(); }
  [[nodiscard]] const Dso& operator[](DsoId id) const { return dsos_[id.index()]; }
  Dso& edit(DsoId id) { return dsos_[id.index()]; }
  [[nodiscard]] size_t size() const { return dsos_.size(); }

 private:
  std::deque<Dso> dsos_;
  tsl::robin_map<std::string, uint32_t> by_path_;
  // Of paths with several entries, by the first one:
  tsl::robin_map<uint32_t, uint32_t> next_of_path_;  // by any of them
  tsl::robin_map<uint32_t, uint32_t> last_of_path_;
  std::map<std::pair<uint32_t, FileIdentity>, uint32_t> by_file_;
};

/// The kind of a user mapping from the path in its record: "//anon", "[vdso]", "[heap]",
/// "/usr/bin/xz" …
DsoKind user_mapping_kind(std::string_view path, bool executable);

}  // namespace sonde
