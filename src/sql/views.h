// Views over the tables of a recording: intervals that no single record has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sql/row_source.h"

namespace sonde::sql {

struct View {
  std::string name;
  std::string columns;  // for people: "time, duration, …"
  std::string query;    // what it selects
};

/// Those whose tables exist: `running` and `waiting` (sched:sched_switch), `syscalls`
/// (raw_syscalls:*, or syscalls:sys_enter_* with sys_exit_*).
[[nodiscard]] std::vector<View> views_of(const std::vector<std::unique_ptr<RowSource>>& tables);

}  // namespace sonde::sql
