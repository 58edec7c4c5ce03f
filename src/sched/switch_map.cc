#include "sched/switch_map.h"

#include <algorithm>

namespace sonde {
namespace {

constexpr size_t kCell = 4;  // " A0 "
constexpr std::string_view kIdleTask = "swapper";
constexpr Escape kBlue{"\033[34m"}, kRedGround{"\033[41m"}, kPlain{"\033[m"};

bool has(const auto& list, const auto& value) {
  return std::ranges::find(list, value) != list.end();
}

}  // namespace

SwitchMap::SwitchMap(SwitchMapOptions options, Sink& out)
    : options_(std::move(options)), out_(out) {
  if (options_.compact) return;
  for (uint32_t cpu = 0; cpu < std::min(options_.cpu_count, kMaxCpus); ++cpu) add_column(cpu);
}

/// False if the CPU already has a column, or must not have one.
bool SwitchMap::add_column(uint32_t cpu) {
  if (cpu >= cpus_.size()) cpus_.resize(cpu + 1);
  if (cpus_[cpu].column != UINT32_MAX) return false;
  if (!options_.cpus.empty() && !has(options_.cpus, cpu)) return false;
  cpus_[cpu].column = static_cast<uint32_t>(columns_.size());
  columns_.push_back(cpu);
  cells_.append(kCell, ' ');
  return true;
}

void SwitchMap::consume(const SchedEvent& event, const SchedPipeline& pipeline) {
  if (event.kind == SchedKind::kSwitch) return take_switch(event);
  tasks_.apply(pipeline.record(event), pipeline.layout(event));
}

SwitchMap::Shown& SwitchMap::shown(TaskId task) {
  if (task.index() >= shown_.size()) shown_.resize(tasks_.size());
  return shown_[task.index()];
}

bool SwitchMap::matches(const Task& task) const {
  if (options_.names.empty()) return true;
  return std::ranges::any_of(options_.names, [&](const std::string& name) {
    return options_.names_are_parts ? task.name.find(name) != std::string::npos : task.name == name;
  });
}

/// True if the task had no short name yet.
bool SwitchMap::give_name(Shown& shown, const Task& task) {
  if (shown.name[0] != 0) return false;
  shown.has_color = has(options_.color_tids, task.tid);
  if (task.name == kIdleTask) {
    shown.name = {'.', ' '};
  } else if (!matches(task)) {
    shown.name = {'-', ' '};
  } else {
    shown.name = next_name_;
    auto& [letter, digit] = next_name_;
    if (letter < 'Z') {
      ++letter;
    } else {
      letter = 'A';
      digit = digit < '9' ? static_cast<char>(digit + 1) : '0';
    }
  }
  return true;
}

void SwitchMap::take_switch(const SchedEvent& event) {
  bool new_column = (options_.compact || event.cpu >= cpus_.size()) && add_column(event.cpu);
  TaskId comes = tasks_.find_or_add(Task::kUnknown, event.next);
  Cpu& cpu = cpus_[event.cpu];
  TaskId left = cpu.runs;
  cpu.runs = comes;
  bool is_new = give_name(shown(comes), tasks_[comes]);
  if (cpu.column != UINT32_MAX) {
    ShortName name = shown(comes).name;
    char* cell = cells_.data() + cpu.column * kCell;
    cell[1] = name[0];
    cell[2] = name[1];
  }
  bool is_filtered = !options_.names.empty();
  bool shows_coming = matches(tasks_[comes]);
  bool shows_leaving = is_filtered && left.valid() && matches(tasks_[left]);
  if (is_filtered && cpu.column == UINT32_MAX) return;
  if (shows_coming) {
    write_cells(event.cpu, false);
    if (cpu.column != UINT32_MAX) write_time_and_name(event, comes, is_new, new_column);
    out_.put('\n');
  }
  if (!shows_leaving) return;
  write_cells(event.cpu, true);
  out_.put("  ");
  out_.seconds(event.time, 12);
  out_.put(" secs \n");
}

void SwitchMap::write_time_and_name(const SchedEvent& event, TaskId task, bool is_new,
                                    bool new_column) {
  out_.put("  ");
  out_.seconds(event.time, 12);
  out_.put(" secs ");
  Task& named = tasks_.edit(task);
  if (is_new || named.name_changed || (options_.name_always && named.tid != 0)) {
    const Shown& how = shown(task);
    bool colored = options_.use_color && how.has_color;
    if (colored) out_.put(kBlue);
    out_.put({how.name.data(), how.name.size()});
    out_.put(" => ");
    out_.put(named.name);
    out_.put(':');
    out_.tid(named.tid);
    if (colored) out_.put(kPlain);
    named.name_changed = false;
  }
  if (options_.compact && new_column) {
    out_.put(" (CPU ");
    out_.number(event.cpu);
    out_.put(')');
  }
}

/// `leaves`: instead of the incoming task, a dash shows that a task left.
void SwitchMap::write_cells(uint32_t this_cpu, bool leaves) {
  out_.put("  ");
  if (options_.use_color && !leaves) return write_cells_in_color(this_cpu);
  uint32_t column = cpus_[this_cpu].column;
  if (column == UINT32_MAX) return out_.put(cells_);
  char* cell = cells_.data() + column * kCell;
  std::array<char, 3> kept = {cell[0], cell[1], cell[2]};
  cell[0] = '*';
  if (leaves) {
    cell[1] = '-';
    cell[2] = ' ';
  }
  out_.put(cells_);
  std::copy(kept.begin(), kept.end(), cell);
}

void SwitchMap::write_cells_in_color(uint32_t this_cpu) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    uint32_t cpu = columns_[i];
    bool is_this = cpu == this_cpu;
    bool red = is_this && has(options_.color_cpus, cpu);
    if (red) out_.put(kRedGround);
    out_.put(is_this ? '*' : ' ');
    if (red) out_.put(kPlain);
    bool blue = cpus_[cpu].runs.valid() && shown(cpus_[cpu].runs).has_color;
    if (blue) out_.put(kBlue);
    out_.put(std::string_view(cells_).substr(i * kCell + 1, kCell - 1));
    if (blue) out_.put(kPlain);
  }
}

}  // namespace sonde
