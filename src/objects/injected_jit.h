// What `inject -j` makes from the jitdumps of a recording: one ELF image per piece of code, next to
// its dump, and the records that say that it was mapped, and from when on.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/env.h"
#include "itrace/trace_input.h"
#include "perfdata/read/recording.h"
#include "replay/passes/jit_replay.h"

namespace sonde {

class InjectedCode {
 public:
  /// Finds the dumps that `record` refers to, each once, and writes their images.
  Result<> look_at(const MmapRecord& record, const Recording& recording, Env& env);

  /// Whether the injected records replace this one: the dump itself, and anonymous memory of a
  /// process whose code is now known better.
  [[nodiscard]] bool replaces(const MmapRecord& record) const;

  struct Mapped {
    uint64_t time_ns;
    size_t offset, size;  // of the record in records()
  };
  [[nodiscard]] const std::vector<Mapped>& mapped() const { return mapped_; }
  [[nodiscard]] Bytes records() const { return records_.view(); }
  [[nodiscard]] const std::vector<BuildIdEntry>& build_ids() const { return build_ids_; }

 private:
  Result<> take(const MmapRecord& record, const FoundJitDump& found, const Recording& recording,
                Env& env);

  std::set<std::pair<uint32_t, std::string>> seen_;
  std::optional<itrace::TraceClock> cycle_clock_;  // of dumps that count cycles
  std::set<uint32_t> processes_;
  ByteBuilder records_;
  std::vector<Mapped> mapped_;
  std::vector<BuildIdEntry> build_ids_;
};

}  // namespace sonde
