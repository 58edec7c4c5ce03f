#include "sql/views.h"

#include <fmt/format.h>

#include <set>

namespace sonde::sql {
namespace {

constexpr std::string_view kEnter = "syscalls__sys_enter_", kExit = "syscalls__sys_exit_";

/// A thread's enter and the exit that follows it make a call; what did not return has no row.
std::string calls_of(std::string_view events) {
  return fmt::format(
      "SELECT time, end - time AS duration, pid, tid, comm, name, result FROM ("
      "SELECT *, lead(time) OVER calls AS end, lead(is_exit) OVER calls AS ends,"
      " lead(name) OVER calls AS ended, lead(value) OVER calls AS result FROM ({}) "
      "WINDOW calls AS (PARTITION BY tid ORDER BY time, is_exit)) "
      "WHERE is_exit = 0 AND ends = 1 AND name = ended",
      events);
}

std::string events_of(std::string_view table, std::string_view name, bool is_exit) {
  return fmt::format(
      "SELECT time, common_pid AS pid, common_tid AS tid, common_comm AS comm, {} AS name,"
      " {} AS is_exit, {} AS value FROM {}",
      name, is_exit ? 1 : 0, is_exit ? "ret" : "NULL", table);
}

void append_union(std::string& events, std::string_view more) {
  if (!events.empty()) events += " UNION ALL ";
  events += more;
}

std::string syscalls_query(const std::set<std::string>& tables) {
  std::string events;
  if (tables.contains("raw_syscalls__sys_enter") && tables.contains("raw_syscalls__sys_exit")) {
    append_union(events, events_of("raw_syscalls__sys_enter", "syscall_name(id)", false));
    append_union(events, events_of("raw_syscalls__sys_exit", "syscall_name(id)", true));
  } else {
    for (const std::string& table : tables) {
      if (!table.starts_with(kEnter)) continue;
      std::string name = table.substr(kEnter.size());
      std::string exit = std::string(kExit) + name;
      if (!tables.contains(exit)) continue;
      append_union(events, events_of(table, "'" + name + "'", false));
      append_union(events, events_of(exit, "'" + name + "'", true));
    }
  }
  return events.empty() ? events : calls_of(events);
}

}  // namespace

std::vector<View> views_of(const std::vector<std::unique_ptr<RowSource>>& tables) {
  std::set<std::string> names;
  for (const auto& table : tables) names.insert(table->name());
  std::vector<View> views;
  if (names.contains("sched__sched_switch")) {
    views.push_back({"running", "time, duration, cpu, tid, comm",
                     "SELECT time, lead(time) OVER (PARTITION BY common_cpu ORDER BY time) - time"
                     " AS duration, common_cpu AS cpu, next_pid AS tid, next_comm AS comm"
                     " FROM sched__sched_switch"});
    views.push_back(
        {"waiting", "time, duration, tid, comm, state",
         "SELECT time, end - time AS duration, tid, comm, state FROM ("
         "SELECT *, lead(time) OVER thread AS end, lead(comes) OVER thread AS ends FROM ("
         "SELECT time, prev_pid AS tid, prev_comm AS comm, prev_state AS state, 0 AS comes"
         " FROM sched__sched_switch WHERE prev_pid <> 0 UNION ALL "
         "SELECT time, next_pid, next_comm, NULL, 1 FROM sched__sched_switch WHERE next_pid <> 0) "
         "WINDOW thread AS (PARTITION BY tid ORDER BY time)) WHERE comes = 0 AND ends = 1"});
  }
  if (std::string query = syscalls_query(names); !query.empty())
    views.push_back({"syscalls", "time, duration, pid, tid, comm, name, result", query});
  return views;
}

}  // namespace sonde::sql
