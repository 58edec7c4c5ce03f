// ObjectCfi: the call frame information of each object of a recording, read when the first sample
// needs it.
#pragma once

#include <deque>
#include <mutex>

#include "dwarf/cfi_table.h"
#include "elf/segment_map.h"
#include "machine/machine.h"
#include "symbol/jit_objects.h"
#include "symbol/object_finder.h"
#include "unwind/stack_unwinder.h"

namespace sonde {

class ObjectCfi {
 public:
  /// All must outlive this object.
  ObjectCfi(const Machine& machine, const ObjectFinder& finder, const JitObjects& jit)
      : machine_(machine), finder_(finder), jit_(jit) {}

  /// Makes room for the objects that the machine knows now; those already read stay. Must not run
  /// concurrently with `find`.
  void grow();

  /// Looks up the unwind information for an instruction of an object; `address` is that of
  /// Mapping::to_object. Thread-safe; the first call for an object reads its file.
  [[nodiscard]] UnwindPlace find(DsoId dso, uint64_t address) const;

 private:
  struct Object {
    std::once_flag once;
    CfiTable table;
    SegmentMap segments;
  };
  void read(DsoId dso, Object& object) const;

  const Machine& machine_;
  const ObjectFinder& finder_;
  const JitObjects& jit_;
  mutable std::deque<Object> objects_;  // by DsoId
};

}  // namespace sonde
