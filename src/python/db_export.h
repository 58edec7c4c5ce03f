// Samples as rows of a database, for scripts that set `perf_db_export_mode`: their functions
// evsel_table, machine_table, thread_table, comm_table, comm_thread_table, dso_table, symbol_table,
// branch_type_table, sample_table and context_switch_table each get a row, those of things before
// the rows that refer to them. Ids count from 1; 0 is "unknown" (export-to-sqlite.py, which perf
// ships, has the columns).
//
// If a script sets `perf_db_export_callchains`, call_path_table gets the call chains of samples, as
// a tree that begins with the outermost callers: id, parent, symbol, and the ip where there is no
// symbol; the root, which is no place, has id 1. `perf_db_export_calls` asks for calls found in
// instruction traces: a recording that has none gives no row of call_return_table.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "perfdata/records/sideband.h"
#include "python/script_events.h"

namespace sonde::python {

class DbExport {
 public:
  DbExport(ScriptEvents& script, const Session& session)
      : script_(script),
        session_(session),
        wants_chains_(script.interpreter().is_set("perf_db_export_callchains")) {}

  /// The kinds of branches, once. Fails if the script wants what only a decoder of traces finds.
  Result<> begin();
  Result<> sample(size_t index, const Sample& sample);
  /// `other`: the task that comes or leaves; without ids if it is not known.
  Result<> context_switch(uint64_t time, const SampleId& who, const SwitchRecord& change,
                          const SampleId& other);

 private:
  struct Task {
    uint64_t process = 0, thread = 0, comm = 0;  // ids
  };
  Result<> call(const char* table, std::vector<PyRef> row);
  Result<uint64_t> event_id(EventId event);
  Result<> machine();
  Result<uint64_t> thread_id(uint32_t pid, uint32_t tid);
  Result<Task> task(uint32_t pid, uint32_t tid, uint64_t time);
  Result<uint64_t> dso_id(DsoId dso);
  struct Place {
    uint64_t dso = 0, symbol = 0, offset = 0;
  };
  /// `ip`: of a caller; where it has no symbol, perf makes one that begins at that run time
  /// address, unless the place got one as that of a sample.
  Result<Place> place(const Frame& frame, std::optional<uint64_t> ip = std::nullopt);
  Result<uint64_t> call_path(size_t index, const Sample& sample);
  struct PathPart {
    uint64_t symbol, ip;  // one of them is 0
  };
  Result<uint64_t> call_path_below(uint64_t parent, const PathPart& part);

  ScriptEvents& script_;
  const Session& session_;
  bool has_machine_ = false;
  std::vector<uint64_t> events_, dsos_;  // ids, by EventId and DsoId; 0: not given yet
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> threads_;
  std::map<std::tuple<uint64_t, uint64_t, uint32_t>, uint64_t> comms_;  // process, start, name
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> comm_threads_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> symbols_;  // dso, start
  bool wants_chains_;
  std::map<std::tuple<uint64_t, uint64_t, uint64_t>, uint64_t> paths_;  // parent, symbol, ip
  uint64_t samples_ = 0, switches_ = 0, event_count_ = 0, dso_count_ = 0;
};

}  // namespace sonde::python
