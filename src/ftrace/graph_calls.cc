#include "ftrace/graph_calls.h"

#include <fmt/format.h>

namespace sonde {
namespace {

// Bounds for text that is not from the kernel.
constexpr size_t kMaxLineLength = 1 << 16;
constexpr size_t kMaxNesting = 1024;
constexpr size_t kMaxTasks = 1 << 16;

/// The idle tasks share a name; each belongs to its CPU.
std::string task_key(std::string_view task, uint32_t cpu) {
  return task.ends_with("-0") ? fmt::format("{} {}", task, cpu) : std::string(task);
}

}  // namespace

void GraphCalls::consume(std::string_view text) {
  while (!text.empty()) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      if (rest_.size() < kMaxLineLength) rest_ += text;
      return;
    }
    if (rest_.empty()) {
      take_line(text.substr(0, end));
    } else {
      rest_ += text.substr(0, end);
      take_line(rest_);
      rest_.clear();
    }
    text.remove_prefix(end + 1);
  }
}

void GraphCalls::finish() {
  if (!rest_.empty()) take_line(rest_);
  rest_.clear();
}

void GraphCalls::take_line(std::string_view text) {
  GraphLine line = parse_graph_line(text);
  if (line.kind == GraphLine::Kind::kOther) return;
  Cpu& cpu = cpus_[line.cpu];
  switch (line.kind) {
    case GraphLine::Kind::kEntry:
      return begin(cpu, line.name);
    case GraphLine::Kind::kCall:
      if (line.duration_ns) on_call_(line.name, *line.duration_ns);
      return;
    case GraphLine::Kind::kReturn:
      return end(cpu, line);
    case GraphLine::Kind::kSwitch:
      return change_task(cpu, line);
    case GraphLine::Kind::kLost:
      lost_ += line.lost;
      cpu.open.clear();
      return;
    default:
      return;
  }
}

void GraphCalls::begin(Cpu& cpu, std::string_view name) {
  if (cpu.open.size() < kMaxNesting) cpu.open.emplace_back(name);
}

void GraphCalls::end(Cpu& cpu, const GraphLine& line) {
  std::string name(line.name);
  if (!cpu.open.empty()) {
    if (name.empty()) name = std::move(cpu.open.back());
    cpu.open.pop_back();
  }
  if (line.duration_ns) on_call_(name, *line.duration_ns);
}

void GraphCalls::change_task(Cpu& cpu, const GraphLine& line) {
  if (!cpu.open.empty() && waiting_.size() < kMaxTasks)
    waiting_[task_key(line.from, line.cpu)] = std::move(cpu.open);
  cpu.open.clear();
  auto waiting = waiting_.find(task_key(line.to, line.cpu));
  if (waiting == waiting_.end()) return;
  cpu.open = std::move(waiting.value());
  waiting_.erase(waiting);
}

}  // namespace sonde
