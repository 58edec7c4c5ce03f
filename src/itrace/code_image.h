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

 private:
  const MappedFile& file_of(DsoId dso);

  const Machine& machine_;
  const ObjectFinder& finder_;
  tsl::robin_map<uint32_t, std::unique_ptr<MappedFile>> files_;
  // The latest answers: what was mapped around the latest address.
  uint32_t pid_ = UINT32_MAX;
  Machine::SpaceAt space_;
  AddressSpace::Found found_;
  Bytes code_;  // of found_'s range, from its start; may be shorter
};

}  // namespace sonde::itrace
