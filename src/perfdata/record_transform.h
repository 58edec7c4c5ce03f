// RecordTransform: what may stand between a recorder's rings and its file. It gets every record in
// the order in which it would have been written, and writes what shall be in the file instead; it
// may hold records back until later ones have come. It runs on a thread of its own, off the rings'
// path.
#pragma once

#include <vector>

#include "base/error.h"
#include "perfdata/event_table.h"

namespace sonde {

class RecordTransform {
 public:
  /// Where records go.
  class Output {
   public:
    virtual ~Output() = default;
    /// Whole records of the kernel, or like the kernel's.
    virtual Result<> write_ring(Bytes records) = 0;
    /// Whole records of the recorder's own types.
    virtual Result<> write(Bytes records) = 0;
    /// Memory that `take` was given and that is needed no more.
    virtual void release(std::vector<std::byte> block) = 0;
  };

  virtual ~RecordTransform() = default;

  /// The events of the file that begins; what was learnt from an earlier file stays known.
  virtual void begin(const std::vector<EventDesc>& events) = 0;
  /// Whole records. `behind`: so much waits that the work should be left to whoever reads the file.
  virtual Result<> take(std::vector<std::byte> block, bool behind, Output& output) = 0;
  /// The file ends: writes all that was held back.
  virtual Result<> finish(Output& output) = 0;
};

}  // namespace sonde
