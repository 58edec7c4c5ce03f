// The code of the recorded tasks: what was mapped at an address at some time, read from the object
// files on this machine, from the build-id cache (the vdso) and from jitdumps. The kernel's is
// KernelCode's.
#pragma once

#include <memory>

#include <tsl/robin_map.h>

#include "itrace/kernel_code.h"
#include "machine/machine.h"
#include "pt/flow_decoder.h"
#include "symbol/jit_objects.h"
#include "symbol/object_finder.h"

namespace sonde::itrace {

/// Where code is looked for.
struct CodeSources {
  const ObjectFinder& finder;
  const JitObjects* jit = nullptr;  // whose code the machine has mapped
  /// The recording's own symbol list, or one given by the user; empty: none.
  std::string kallsyms = {};
};

/// The code at an offset of a jitdump, to the end of its piece; empty if there is none.
Bytes generated_code(const JitObject& generated, uint64_t offset);

class CodeImage {
 public:
  CodeImage(const Recording& recording, const Machine& machine, const CodeSources& sources)
      : machine_(machine),
        finder_(sources.finder),
        jit_(sources.jit),
        kernel_(recording, machine, kernel_sources(recording, sources)) {}

  /// Copies code of a process, or of the kernel, at an address, as much as is mapped there; returns
  /// the size.
  size_t read(uint32_t pid, uint64_t time_ns, uint64_t address, std::span<std::byte> to);
  /// The part of a file that `read` copies from at an address, if it is one.
  std::optional<pt::CodeReader::FilePart> file_part(uint32_t pid, uint64_t time_ns,
                                                    uint64_t address);
  /// What is mapped at an address, if nothing of it is here; else invalid.
  DsoId missing_object(uint32_t pid, uint64_t time_ns, uint64_t address);
  /// When the latest answer holds: from the first time, and before the second.
  [[nodiscard]] std::pair<uint64_t, uint64_t> valid() const { return valid_; }

 private:
  static KernelCode::Sources kernel_sources(const Recording& recording, const CodeSources& sources);
  /// An object as it was mapped.
  const FoundObject& object_of(DsoId dso);
  /// Code, and the whole file that it is in, if it is in one that can be opened.
  struct Code {
    Bytes bytes;
    Bytes file;
    std::string path;
  };
  /// The code of an object from an offset on; empty if it is not here.
  Code code_of(DsoId dso, uint64_t offset);
  /// Sets code_ to what is mapped around an address of a process.
  void look_up(uint32_t pid, uint64_t time_ns, uint64_t address);

  const Machine& machine_;
  const ObjectFinder& finder_;
  const JitObjects* jit_;
  KernelCode kernel_;
  tsl::robin_map<uint32_t, std::unique_ptr<FoundObject>> objects_;
  // The latest answers: what was mapped around the latest address.
  uint32_t pid_ = UINT32_MAX;
  Machine::SpaceAt space_;
  AddressSpace::Found found_;
  Code code_;  // of found_'s range, from its start; may be shorter
  std::pair<uint64_t, uint64_t> valid_;
};

}  // namespace sonde::itrace
