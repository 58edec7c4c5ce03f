// ObjectCfi: the call frame information of each object of a recording, read when the first sample
// asks for it.
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
  /// All must outlive this.
  ObjectCfi(const Machine& machine, const ObjectFinder& finder, const JitObjects& jit)
      : machine_(machine), finder_(finder), jit_(jit) {}

  /// Makes room for the objects that the machine knows now; those that were read stay. Not at the
  /// same time as `find`.
  void grow();

  /// Where an instruction of an object lies, `address` as Mapping::to_object has it. Any thread may
  /// ask; the first that asks for an object reads its file.
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
