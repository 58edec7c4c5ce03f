// The code of the recorded tasks: what was mapped at an address at some time, read from the object
// files on this machine. The kernel's code is not in files: there is none here.
#pragma once

#include <memory>

#include <tsl/robin_map.h>

#include "base/file.h"
#include "machine/machine.h"
#include "pt/flow_decoder.h"
#include "symbol/object_finder.h"

namespace sonde::itrace {

class CodeImage {
 public:
  CodeImage(const Machine& machine, const ObjectFinder& finder)
      : machine_(machine), finder_(finder) {}

  /// Copies code of a process at an address, as much as is mapped there; returns the size.
  size_t read(uint32_t pid, uint64_t time_ns, uint64_t address, std::span<std::byte> to);
  /// The part of a file that `read` copies from at an address, if it is one.
  std::optional<pt::CodeReader::FilePart> file_part(uint32_t pid, uint64_t time_ns,
                                                    uint64_t address);
  /// When the latest answer holds: from the first time, and before the second.
  [[nodiscard]] std::pair<uint64_t, uint64_t> valid() const;

 private:
  struct CodeFile {
    std::string path;
    MappedFile file;
  };
  const CodeFile& file_of(DsoId dso);
  void look_up(uint32_t pid, uint64_t time_ns, uint64_t address);

  const Machine& machine_;
  const ObjectFinder& finder_;
  tsl::robin_map<uint32_t, std::unique_ptr<CodeFile>> files_;
  // The latest answers: what was mapped around the latest address.
  uint32_t pid_ = UINT32_MAX;
  Machine::SpaceAt space_;
  AddressSpace::Found found_;
  const CodeFile* file_ = nullptr;  // where code_ is
  Bytes code_;                      // of found_'s range, from its start; may be shorter
};

}  // namespace sonde::itrace
