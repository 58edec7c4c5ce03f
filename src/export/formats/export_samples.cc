#include "export/formats/export_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "export/formats/export_tables.h"

namespace sonde {

ExportSamples::ExportSamples(const StackProfile& profile)
    : profile_(profile),
      samples_(&profile.samples),
      has_times_(profile.samples.size() > 0 && !profile.threads.empty()) {
  if (!has_times_) make_from_sums();
  make_groups();
}

void ExportSamples::make_from_sums() {
  samples_ = &made_;
  sole_thread_ = {.name = profile_.strings->intern(file_name_of(profile_.origin))};
  sole_thread_.process_name = sole_thread_.name;
  for (uint32_t column = 0; column < profile_.columns.size(); ++column) {
    auto add = [&](StackNodeId node, double value) {
      if (value == 0) return;
      made_.node.push_back(node);
      made_.column.push_back(column);
      made_.thread.push_back(0);
      made_.cpu.push_back(UINT32_MAX);
      made_.time_ns.push_back(0);
      made_.value.push_back(value);
    };
    const StackColumn& sums = profile_.columns[column];
    for (size_t node = 0; node < sums.self.size(); ++node) add(StackNodeId(node), sums.self[node]);
    add(StackNodeId(), sums.without_stack);
  }
}

void ExportSamples::make_groups() {
  const StackSamples& samples = *samples_;
  size_t columns = profile_.columns.size();
  auto key = [&](uint32_t i) { return samples.thread[i] * columns + samples.column[i]; };
  order_by(key, (has_times_ ? profile_.threads.size() : 1) * columns);
  for (size_t begin = 0; begin < order_.size();) {
    size_t end = begin;
    while (end < order_.size() && key(order_[end]) == key(order_[begin])) ++end;
    groups_.push_back({.thread = samples.thread[order_[begin]],
                       .column = samples.column[order_[begin]],
                       .samples = {order_.data() + begin, end - begin}});
    begin = end;
  }
}

/// Samples with the same key stay in time order.
template <typename Key>
void ExportSamples::order_by(const Key& key, size_t keys) {
  order_.resize(samples_->size());
  std::iota(order_.begin(), order_.end(), 0u);
  constexpr size_t kSparse = 4;  // beyond this, counting would take more memory than sorting
  if (keys / kSparse > order_.size()) {
    std::ranges::stable_sort(order_, {}, key);
    return;
  }
  std::vector<size_t> next(keys + 1);
  for (uint32_t i = 0; i < samples_->size(); ++i) ++next[key(i) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (uint32_t i = 0; i < samples_->size(); ++i) order_[next[key(i)]++] = i;
}

std::vector<std::span<const ExportSamples::Group>> ExportSamples::by_thread() const {
  std::vector<std::span<const Group>> threads;
  for (size_t i = 0; i < groups_.size();) {
    size_t end = i;
    while (end < groups_.size() && groups_[end].thread == groups_[i].thread) ++end;
    threads.emplace_back(&groups_[i], end - i);
    i = end;
  }
  return threads;
}

const StackThread& ExportSamples::thread(uint32_t index) const {
  return has_times_ ? profile_.threads[index] : sole_thread_;
}

bool ExportSamples::knows_process(uint32_t index) const {
  StringId name = thread(index).process_name;
  return name.valid() && !profile_.text(name).empty();
}

std::string ExportSamples::thread_name(uint32_t index) const {
  const StackThread& of = thread(index);
  std::string_view name = profile_.text(of.name);
  return name.empty() ? fmt::format("{}", of.tid) : std::string(name);
}

std::string ExportSamples::process_name(uint32_t index) const {
  return knows_process(index) ? std::string(profile_.text(thread(index).process_name))
                              : thread_name(index);
}

uint64_t ExportSamples::start_ns() const {
  return has_times_ ? samples_->time_ns.front() : 0;
}

uint64_t ExportSamples::end_ns() const {
  return has_times_ ? samples_->time_ns.back() : 0;
}

}  // namespace sonde
