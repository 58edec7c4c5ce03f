// Samples as rows of a database, for scripts that set `perf_db_export_mode`: their functions
// evsel_table, machine_table, thread_table, comm_table, comm_thread_table, dso_table, symbol_table,
// branch_type_table, sample_table and context_switch_table each get a row, those of things before
// the rows that refer to them. Ids count from 1; 0 is "unknown" (export-to-sqlite.py, which perf
// ships, has the columns).
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
  DbExport(ScriptEvents& script, const Session& session) : script_(script), session_(session) {}

  /// The kinds of branches, once.
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
  Result<Place> place(const Frame& frame);

  ScriptEvents& script_;
  const Session& session_;
  bool has_machine_ = false;
  std::vector<uint64_t> events_, dsos_;  // ids, by EventId and DsoId; 0: not given yet
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> threads_;
  std::map<std::tuple<uint64_t, uint64_t, uint32_t>, uint64_t> comms_;  // process, start, name
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> comm_threads_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> symbols_;  // dso, start
  uint64_t samples_ = 0, switches_ = 0, event_count_ = 0, dso_count_ = 0;
};

}  // namespace sonde::python
