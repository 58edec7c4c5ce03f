// Definitions of probes, in the syntax of uprobe_events and kprobe_events in tracefs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "elf/elf_file.h"

namespace sonde {

/// One place where a probe fires, in an object file or in the kernel.
struct ProbePlace {
  std::string object = {};    // path of the file; empty: the kernel
  std::string symbol = {};    // in the kernel: "tcp_sendmsg", "tcp_sendmsg+8"
  FileOffset offset = {};     // in an object
  FileOffset semaphore = {};  // for a USDT probe: the counter to increment; 0: none
  bool at_return = false;
  std::vector<std::string> arguments = {};  // "arg1=%di:u64"

  [[nodiscard]] bool in_kernel() const { return object.empty(); }
  bool operator==(const ProbePlace&) const = default;
};

/// "p:group/name /usr/bin/x:0x1090(0x3020) arg1=%bx:s32"
[[nodiscard]] std::string probe_definition(std::string_view group, std::string_view name,
                                           const ProbePlace& place);

/// kUnsupported if the definition would not be the one line that it should be: a path, which
/// anybody may choose, or a name that ends the line, or splits it where the kernel does.
[[nodiscard]] Result<> check_definition(std::string_view group, std::string_view name,
                                        const ProbePlace& place);

/// The fields of a place's samples: "arg1:s32 arg2:u64 ". Places share an event only if theirs are
/// the same.
[[nodiscard]] std::string event_fields(const ProbePlace& place);

/// The offset of a function, by its name in the file's symbol tables. kNotFound if there is none,
/// kUnsupported if it has no code of its own.
[[nodiscard]] Result<FileOffset> find_function(const ElfFile& file, std::string_view name);

struct SdtProbe {
  std::string provider;
  std::string name;
  ProbePlace place;
  std::vector<std::string> not_fetched = {};  // operands that the tracer cannot fetch

  /// "sdt_python:line"
  [[nodiscard]] std::string event_name() const;
  /// Whether that is a name that an event, a cache or a list for machines may have: the program
  /// says what its probes are called, and may be anybody's (base/foreign/plain_name.h).
  [[nodiscard]] bool has_plain_name() const;
};

/// For probes that were asked for, and have names that are not plain.
[[nodiscard]] Error names_not_plain(std::string_view object, const std::vector<std::string>& names);

/// The matching USDT probes of a file; `provider` and `name` may be globs. `path` is where the
/// kernel finds the file.
[[nodiscard]] std::vector<SdtProbe> find_sdt_probes(const ElfFile& file, const std::string& path,
                                                    std::string_view provider,
                                                    std::string_view name);

}  // namespace sonde
