// RecordTransform: an optional stage between a recorder's rings and its file. It receives every
// record in the order in which it would have been written and writes what the file is to contain
// instead; it may hold records back until later ones arrive. It runs on its own thread, off the
// path of the rings.
#pragma once

#include <vector>

#include "base/error.h"
#include "perfdata/header/event_table.h"

namespace sonde {

class RecordTransform {
 public:
  /// Where records go.
  class Output {
   public:
    virtual ~Output() = default;
    /// Whole records from the kernel, or in the kernel's form.
    virtual Result<> write_ring(Bytes records) = 0;
    /// Whole records of the recorder's own types.
    virtual Result<> write(Bytes records) = 0;
    /// Returns a block given to `take` that is no longer needed.
    virtual void release(std::vector<std::byte> block) = 0;
  };

  virtual ~RecordTransform() = default;

  /// Starts a file with these events. What was learnt from an earlier file is kept.
  virtual void begin(const std::vector<EventDesc>& events) = 0;
  /// Takes whole records. `behind`: the backlog is so large that the work should be left to the
  /// file's reader.
  virtual Result<> take(std::vector<std::byte> block, bool behind, Output& output) = 0;
  /// The file ends: writes everything that was held back.
  virtual Result<> finish(Output& output) = 0;
};

}  // namespace sonde
