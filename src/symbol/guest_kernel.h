// Kernels of virtual machines, from files that their users copied or mounted: what perf's --guest…
// options name. A guest's files are untrusted: links lead nowhere outside its root, and no more
// than a bounded number of bytes is read.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "machine/dso.h"
#include "symbol/kallsyms.h"
#include "symbol/symbol_table.h"

namespace sonde {

struct GuestFiles {
  /// --guestmount: MOUNT/PID is the root of the guest that process PID runs.
  std::string mount = {};
  /// --guestkallsyms: of the guest without a directory there, as the next two.
  std::string kallsyms = {};
  std::string modules = {};  // --guestmodules: a copy of /proc/modules
  std::string vmlinux = {};  // --guestvmlinux
  bool code = false;         // --guest-code: guests run code of the process that runs them
  /// Of a recording that is a directory: kcore_dir__PID there is a copy of that guest's kernel,
  /// made by its own `record --kcore`.
  std::string recording = {};

  /// Whether the user named any.
  [[nodiscard]] bool any() const {
    return code || !mount.empty() || !kallsyms.empty() || !modules.empty() || !vmlinux.empty();
  }
};

/// A regular file below a guest's root, of at most 256 MiB. Links, also absolute ones, stay below
/// it: the guest made them.
[[nodiscard]] Result<std::string> read_guest_file(const std::string& root, const std::string& name);

/// MOUNT/PID.
[[nodiscard]] std::string guest_root(const GuestFiles& files, uint32_t pid);

struct GuestModule {
  std::string name;  // "[ext4]"
  RuntimeAddr start, end;
};

/// Lines of /proc/modules: "ext4 741376 1 - Live 0xffffffffc0a01000". Lines of another form, and
/// modules whose address is hidden, are left out.
[[nodiscard]] std::vector<GuestModule> parse_guest_modules(std::string_view text);

/// Where a guest's kernel and modules lie.
struct GuestLayout {
  uint32_t pid = 0;              // of the virtual machine, or kAnyGuest
  std::string path;              // as MMAP records name it: "[guest.kernel.kallsyms.4711]_text"
  RuntimeAddr start, end, text;  // of the kernel; `text` is the address of the symbol in `path`
  std::vector<GuestModule> modules;
};

/// All guests that the files describe. A file that an option names and that cannot be used is an
/// error; so is a mount without any guest. Guests below the mount whose lists cannot be read are
/// left out.
[[nodiscard]] Result<std::vector<GuestLayout>> guest_layouts(const GuestFiles& files);

/// The symbols of one guest's kernel and modules.
struct GuestSymbols {
  std::optional<Kallsyms> list;  // its table is `table`, or:
  SymbolTable image;
  const SymbolTable* table = nullptr;  // null: none
  std::string source;                  // the file, or why there is none
  char origin = '!';                   // perf's letter
  std::optional<uint64_t> text;        // the reference symbol's address in the table
};

/// Reads each guest's symbols once; thread-safe.
class GuestKernels {
 public:
  explicit GuestKernels(GuestFiles files) : files_(std::move(files)) {}
  /// `reference`: the name of the symbol by which the recording says where the kernel was.
  [[nodiscard]] const GuestSymbols& of(uint32_t pid, std::string_view reference);

 private:
  GuestFiles files_;
  std::mutex mutex_;
  std::unordered_map<uint32_t, std::unique_ptr<GuestSymbols>> known_;
};

}  // namespace sonde
