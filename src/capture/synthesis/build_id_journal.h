// BuildIdJournal: the build ids of the objects that a recording hits, written among its records as
// soon as they are known. A finished file has all of them in a section behind its records; one
// whose recorder was killed has those.
//
//   journal.write_new(scan, records);           // after every round
//   features.build_ids = journal.all(scan);     // at the end
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "capture/recorders/record_scan.h"
#include "perfdata/header/features.h"

namespace sonde {

class BuildIdJournal {
 public:
  /// Each costs as much as reading many samples, which meanwhile wait in the rings.
  static constexpr size_t kMostAtOnce = 64;
  /// BUILD_ID records of the next objects that were hit.
  void write_new(const RecordScan& scan, size_t most, ByteBuilder& out);
  /// Of all objects that were hit.
  [[nodiscard]] std::vector<BuildIdEntry> all(const RecordScan& scan) const;
  /// The next file begins (--switch-output).
  void restart();

 private:
  std::vector<std::optional<std::string>> ids_;  // of the first hits
};

}  // namespace sonde
