// JitReplay: applies the contents of jitdumps to the machine, at the time at which they happened.
//
// A process that writes a dump maps the file executable; that mapping's record reveals the dump. It
// is looked for in the process's mount namespace while the process lives, then under its path here.
// Its times are CLOCK_MONOTONIC: if the recording's are as well (record -k mono), each sample sees
// the code that reused memory held at that time; otherwise the last code there. Or they count
// cycles, which TIME_CONV relates to the clock of recordings without -k. The first code in a
// piece of memory is treated as if it had always been there: compilers report code when it is
// running already.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/files/process_root.h"
#include "base/loss.h"
#include "itrace/trace_input.h"
#include "machine/machine.h"
#include "perfdata/header/event_table.h"
#include "symbol/jit_objects.h"

namespace sonde {

class Bundle;

/// Where dumps are looked for.
struct JitDumpOffsets {
  std::string symfs = {};          // every path is looked up below it
  std::string proc = "/proc";      // where procfs is mounted
  const Bundle* bundle = nullptr;  // objects bundled with the recording come first
  bool trusts_paths = true;        // what is at a path of this machine is what was recorded
  itrace::TraceClock cycles = {};  // of dumps that count them; no multiplier: not known
};
struct FoundJitDump {
  std::string path;  // as it can be opened here
  JitDump dump;
  ProcessOwner owner = {};  // of the file, or of the process in whose root it is
  bool may_grow = true;     // a bundled one does not
};
/// Finds the dump that process `pid` mapped as `path`.
Result<FoundJitDump> find_jit_dump(uint32_t pid, const std::string& path,
                                   const JitDumpOffsets& places);
/// Whether all samples are timed by CLOCK_MONOTONIC, as dumps are.
bool has_jit_dump_clock(const EventTable& events);

class JitReplay {
 public:
  using Options = JitDumpOffsets;
  JitReplay(Machine& machine, JitObjects& objects, Options options)
      : machine_(machine), objects_(objects), options_(std::move(options)) {}

  /// Whether a record may reveal a dump: if so, decode it and call look_at.
  [[nodiscard]] static bool may_tell(const RecordView& record);
  void look_at(const MmapRecord& record);
  /// Whether a process was seen to write a dump.
  [[nodiscard]] bool knows_dump_of(uint32_t pid) const;
  /// Reads what was added to the known dumps since the last time.
  void read_dumps(const EventTable& events, LossLedger& losses);
  /// Applies what happened up to `time`. Between two calls, feed the machine the records of that
  /// time span.
  void apply_up_to(uint64_t time);
  /// Applies the rest.
  void apply_all();

 private:
  struct Dump {
    uint32_t pid;
    std::string path;                 // as it was mapped
    std::string found_at;             // the file, which may grow; empty before the first reading
    const JitObject* last = nullptr;  // the last one read
  };
  struct Event {
    uint64_t time_ns;
    bool has_time;
    uint32_t pid;
    uint64_t address, size;
    DsoId dso;
    uint64_t offset;
  };

  void add(Dump& dump, JitDump read, const EventTable& events, LossLedger& losses);
  void apply(const Event& event);
  bool is_first_there(const Event& event);

  Machine& machine_;
  JitObjects& objects_;
  Options options_;
  std::deque<Dump> dumps_;
  std::set<std::pair<uint32_t, std::string>> known_;
  std::vector<Event> events_;  // by time; those without one last
  size_t next_ = 0;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> used_;  // process and start of memory: its end
};

}  // namespace sonde
