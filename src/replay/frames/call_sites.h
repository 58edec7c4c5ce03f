// CallSites: whether a call can return to an address of an object, by the object's code, which is
// read when the first chain needs it (unwind/return_address.h).
//
// What cannot be checked is believed: code that was generated or is not on this machine, and
// objects whose file is not the build that ran.
#pragma once

#include <deque>
#include <mutex>
#include <optional>

#include "abi/regs.h"
#include "elf/elf_file.h"
#include "machine/machine.h"
#include "symbol/object_finder.h"

namespace sonde {

class CallSites {
 public:
  /// Both must outlive this object.
  CallSites(const Machine& machine, const ObjectFinder& finder, abi::Arch arch)
      : machine_(machine), finder_(finder), arch_(arch) {}

  /// Makes room for the objects that the machine knows now; those already read stay. Must not run
  /// concurrently with `may_return_to`.
  void grow();

  /// `address` is that of Mapping::to_object; an address at which nothing was mapped has an invalid
  /// `dso`, and no call returns to it. Thread-safe; the first call for an object opens its file.
  [[nodiscard]] bool may_return_to(DsoId dso, uint64_t address) const;

 private:
  struct Object {
    std::once_flag once;
    std::optional<ElfFile> code;  // the file that ran
  };
  void read(DsoId dso, Object& object) const;

  const Machine& machine_;
  const ObjectFinder& finder_;
  abi::Arch arch_;
  mutable std::deque<Object> objects_;  // by DsoId
};

}  // namespace sonde
