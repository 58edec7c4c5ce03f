#include "kwork/work_names.h"

#include <fmt/format.h>

#include <utility>

#include "event/print_fmt/print_fmt.h"

namespace sonde {
namespace {

// perf prints what C prints for a null pointer.
constexpr std::string_view kNoName = "(null)";

}  // namespace

void WorkNames::keep(const OtherRecord& record) {
  if (!is_settled_) machine_.keep(record);
}

void WorkNames::name(Work& work, const TracepointItem& item, const TracepointPipeline& pipeline,
                     std::string_view subject) {
  switch (work.key.work_class) {
    case WorkClass::kSoftirq:
      return name_softirq(work, item, pipeline);
    case WorkClass::kWorkqueue:
      return name_function(work, item.values[1]);
    default:
      work.has_name = !subject.empty() && pipeline.format(item).field(subject) != nullptr;
      if (work.has_name) work.name = pipeline.text(item, subject);
  }
}

/// The print format has the kernel's table of names: "vec=%u [action=%s]".
void WorkNames::name_softirq(Work& work, const TracepointItem& item,
                             const TracepointPipeline& pipeline) {
  constexpr std::string_view kAction = "[action=";
  std::string text;
  PrintTarget target;
  target.order = pipeline.order();
  PrintProgram::compile(pipeline.format(item), target).print(pipeline.raw(item), {}, text);
  size_t begin = text.find(kAction);
  if (begin == std::string::npos) return;
  begin += kAction.size();
  size_t end = text.find(']', begin);
  if (end == std::string::npos) return;
  work.name = text.substr(begin, end - begin);
  work.has_name = !work.name.empty();
}

void WorkNames::name_function(Work& work, uint64_t address) {
  if (address == 0) return;
  if (!std::exchange(is_settled_, true)) machine_.finalize(symbols_, env_);
  machine_.load({&address, 1});
  if (auto found = machine_.kernel_symbol(address)) {
    work.name = found->name;
    work.has_name = true;
  }
}

std::string work_label(const Work& work) {
  constexpr size_t kMaxLength = 29;
  std::string label;
  std::string_view name = work.has_name ? std::string_view(work.name) : kNoName;
  switch (work.key.work_class) {
    case WorkClass::kIrq:
      label = fmt::format("{}:{}", name, work.key.id);
      break;
    case WorkClass::kSoftirq:
      label = fmt::format("(s){}:{}", name, work.key.id);
      break;
    case WorkClass::kWorkqueue:
      label = work.has_name ? fmt::format("(w){}", name) : fmt::format("(w){:#x}", work.key.id);
      break;
    case WorkClass::kSched:
      label = name;
      break;
  }
  if (label.size() > kMaxLength) label.resize(kMaxLength);
  return label;
}

}  // namespace sonde
