// The map of `sched map`: a line per context switch, with a column per CPU that shows by a short
// name which task runs there.
//
//   *A0         911.858639 secs A0 => migration/0:18
//    A0 *B0     911.858700 secs B0 => make:2017
//   *.   B0     911.858712 secs .  => swapper:0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sched/event_pipeline.h"
#include "sched/task_table.h"
#include "sched/text_out.h"

namespace sonde {

struct SwitchMapOptions {
  bool compact = false;              // columns only for CPUs that were active
  std::vector<uint32_t> cpus;        // only these; empty: all
  std::vector<uint32_t> color_cpus;  // their star is coloured
  std::vector<uint32_t> color_tids;  // and these tasks' short names
  std::vector<std::string> names;    // only tasks with these names
  bool names_are_parts = false;
  bool name_always = false;  // explain the short name on every line
  bool use_color = false;
  uint32_t cpu_count = 1;  // columns; more are added if an event has a higher CPU
};

class SwitchMap {
 public:
  SwitchMap(SwitchMapOptions options, Sink& out);

  [[nodiscard]] static SchedKinds wanted() { return kinds(SchedKind::kSwitch, SchedKind::kRecord); }
  void consume(const SchedEvent& event, const SchedPipeline& pipeline);
  void flush() { out_.flush(); }

 private:
  using ShortName = std::array<char, 2>;
  struct Shown {
    ShortName name{};  // NULs until it has one
    bool has_color = false;
  };
  struct Cpu {
    uint32_t column = UINT32_MAX;  // none: UINT32_MAX
    TaskId runs;
  };

  void take_switch(const SchedEvent& event);
  Shown& shown(TaskId task);
  bool give_name(Shown& shown, const Task& task);
  [[nodiscard]] bool matches(const Task& task) const;
  bool add_column(uint32_t cpu);
  void write_cells(uint32_t this_cpu, bool leaves);
  void write_cells_in_color(uint32_t this_cpu);
  void write_time_and_name(const SchedEvent& event, TaskId task, bool is_new, bool new_column);

  SwitchMapOptions options_;
  TextOut out_;
  TaskTable tasks_;
  std::vector<Shown> shown_;       // parallel to tasks_
  std::vector<Cpu> cpus_;          // by number
  std::vector<uint32_t> columns_;  // CPU numbers
  std::string cells_;              // four characters a column
  ShortName next_name_ = {'A', '0'};
};

}  // namespace sonde
