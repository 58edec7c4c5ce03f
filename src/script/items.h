// What `script` prints, in order: the samples that pass the filters, and the other records shown
// between them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/fields/chosen_names.h"
#include "replay/fields/event_window.h"
#include "script/record_lines.h"

namespace sonde {

/// Filters that need the names of a replayed recording. An empty list passes everything.
struct ItemFilter {
  std::vector<std::string> comms;
  std::vector<std::string> dsos;
  std::vector<std::string> symbols;  // names, or addresses in hex
  uint64_t address_range = 0;        // bytes after an address in `symbols` that pass, too
  std::vector<uint32_t> cpus;        // for records; samples are filtered earlier
  std::vector<TimeRange> times;      // of samples
  RecordFilter records;

  [[nodiscard]] bool passes_all() const {
    return comms.empty() && dsos.empty() && symbols.empty() && cpus.empty() && times.empty() &&
           !records.any();
  }
};

/// Which samples pass an ItemFilter.
class SampleNames {
 public:
  /// Both must outlive it.
  SampleNames(const Session& session, const ItemFilter& filter);
  [[nodiscard]] bool passes_all() const;
  [[nodiscard]] bool passes(uint32_t sample) const { return in_time(sample) && matches(sample); }
  /// Without regard to its time.
  [[nodiscard]] bool matches(uint32_t sample) const;

 private:
  [[nodiscard]] bool in_time(uint32_t sample) const;
  [[nodiscard]] bool passes_symbol(const Frame& leaf, uint32_t sample) const;

  const Session& session_;
  const ItemFilter& filter_;
  ChosenNames comms_;
  ChosenObjects objects_;
  std::vector<uint64_t> addresses_;
};

struct ScriptItem {
  uint32_t index;  // of a sample, or into Session::other_records()
  bool is_record;
};

/// Every sample, and the records that `filter` chooses, ordered by time, then by file position; by
/// file position alone if rounds are shown.
std::vector<ScriptItem> all_items(const Session& session, const SamplePrinter& printer,
                                  const ItemFilter& filter);

/// The same without samples that `filter` or `chosen`, or the fields to be printed, leave out.
/// `chosen` carries its state from one call to the next.
std::vector<ScriptItem> choose_items(const Session& session, const SamplePrinter& printer,
                                     const ItemFilter& filter, EventWindow& chosen);

}  // namespace sonde
