// The weight of each stack in each thread, for formats that hold sums: samples of one thread with
// the same stack form one row.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "export/formats/export_samples.h"

namespace sonde {

class ThreadTotals {
 public:
  struct Row {
    uint32_t thread;
    StackNodeId node;
  };

  ThreadTotals(const StackProfile& profile, const ExportSamples& samples)
      : samples_(samples),
        columns_(profile.columns.size()),
        row_of_node_(profile.nodes.size() + 1, kNone) {}

  /// Adds the rows of one thread, in tree order.
  void add(std::span<const ExportSamples::Group> thread) {
    size_t first = rows_.size();
    for (const auto& group : thread)
      for (uint32_t sample : group.samples) touch(group.thread, samples_.samples().node[sample]);
    std::ranges::sort(rows_.begin() + static_cast<ptrdiff_t>(first), rows_.end(), {},
                      [](const Row& row) { return row.node; });
    for (size_t row = first; row < rows_.size(); ++row) row_of(rows_[row].node) = row;
    values_.resize(rows_.size() * columns_);
    counts_.resize(rows_.size() * columns_);
    for (const auto& group : thread)
      for (uint32_t sample : group.samples) {
        size_t at = row_of(samples_.samples().node[sample]) * columns_ + group.column;
        values_[at] += samples_.samples().value[sample];
        ++counts_[at];
      }
    for (size_t row = first; row < rows_.size(); ++row) row_of(rows_[row].node) = kNone;
  }
  void clear() {
    rows_.clear();
    values_.clear();
    counts_.clear();
  }

  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] double value(size_t row, size_t column) const {
    return values_[row * columns_ + column];
  }
  [[nodiscard]] uint64_t count(size_t row, size_t column) const {
    return counts_[row * columns_ + column];
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  /// Samples without a stack use the last entry.
  size_t& row_of(StackNodeId node) {
    return node.valid() ? row_of_node_[node.index()] : row_of_node_.back();
  }
  void touch(uint32_t thread, StackNodeId node) {
    size_t& row = row_of(node);
    if (row != kNone) return;
    row = rows_.size();
    rows_.push_back({.thread = thread, .node = node});
  }

  const ExportSamples& samples_;
  size_t columns_;
  std::vector<size_t> row_of_node_;
  std::vector<Row> rows_;
  std::vector<double> values_;    // by row and column
  std::vector<uint64_t> counts_;  // by row and column
};

}  // namespace sonde
