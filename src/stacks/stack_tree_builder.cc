#include "stacks/stack_tree_builder.h"

#include <xxhash.h>

#include <algorithm>
#include <numeric>

namespace sonde {

StackTreeBuilder::StackTreeBuilder(StackProfile begun) : profile_(std::move(begun)) {
  for (size_t i = 0; i < profile_.frames.size(); ++i)
    frames_.try_emplace(profile_.frames[i], static_cast<uint32_t>(i));
}

size_t StackTreeBuilder::FrameHash::operator()(const StackFrame& frame) const {
  const uint32_t content[] = {frame.name.value,
                              frame.object.value,
                              frame.file.value,
                              frame.line,
                              static_cast<uint32_t>(frame.kind),
                              static_cast<uint32_t>(frame.address),
                              static_cast<uint32_t>(frame.address >> 32)};
  return XXH3_64bits(content, sizeof content);
}

bool StackTreeBuilder::FrameEqual::operator()(const StackFrame& a, const StackFrame& b) const {
  return a.name == b.name && a.object == b.object && a.file == b.file && a.line == b.line &&
         a.kind == b.kind && a.address == b.address;
}

StackFrameId StackTreeBuilder::frame(const StackFrame& frame) {
  auto [entry, is_new] = frames_.try_emplace(frame, static_cast<uint32_t>(profile_.frames.size()));
  if (is_new) profile_.frames.push_back(frame);
  return StackFrameId(entry->second);
}

size_t StackTreeBuilder::add_column(std::string_view name, std::string_view unit) {
  StackColumn& column = profile_.columns.emplace_back();
  column.name = name;
  column.unit = unit;
  return profile_.columns.size() - 1;
}

size_t StackTreeBuilder::add_thread(const StackThread& thread) {
  profile_.threads.push_back(thread);
  return profile_.threads.size() - 1;
}

StackNodeId StackTreeBuilder::child(StackNodeId parent, StackFrameId frame) {
  uint64_t key = (uint64_t{parent.valid() ? parent.value + 1 : 0} << 32) | frame.value;
  auto [entry, is_new] = children_.try_emplace(key, static_cast<uint32_t>(profile_.nodes.size()));
  if (is_new) profile_.nodes.push_back({.parent = parent, .frame = frame});
  return StackNodeId(entry->second);
}

StackNodeId StackTreeBuilder::node_of(std::span<const StackFrameId> stack) {
  StackNodeId at;
  for (StackFrameId frame : stack) at = child(at, frame);
  return at;
}

void StackTreeBuilder::add(StackNodeId node, size_t column, double value) {
  StackColumn& to = profile_.columns[column];
  ++to.samples;
  if (!node.valid()) {
    to.without_stack += value;
    return;
  }
  if (to.self.size() <= node.index()) to.self.resize(profile_.nodes.size());
  to.self[node.index()] += value;
}

void StackTreeBuilder::add_sample(StackNodeId node, size_t column, double value,
                                  const Event& event) {
  add(node, column, value);
  StackSamples& samples = profile_.samples;
  samples.node.push_back(node);
  samples.column.push_back(static_cast<uint32_t>(column));
  samples.thread.push_back(event.thread);
  samples.cpu.push_back(event.cpu);
  samples.time_ns.push_back(event.time_ns);
  samples.value.push_back(value);
}

namespace {

template <typename Column>
void reorder(Column& column, std::span<const uint32_t> order) {
  Column sorted;
  sorted.reserve(column.size());
  for (uint32_t index : order) sorted.push_back(column[index]);
  column = std::move(sorted);
}

void sort_by_time(StackSamples& samples) {
  if (std::ranges::is_sorted(samples.time_ns)) return;
  std::vector<uint32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return samples.time_ns[i]; });
  reorder(samples.node, order);
  reorder(samples.column, order);
  reorder(samples.thread, order);
  reorder(samples.cpu, order);
  reorder(samples.value, order);
  reorder(samples.time_ns, order);
}

}  // namespace

/// The nodes by their temporary numbers, in the order of their new numbers.
std::vector<StackNodeId> StackTreeBuilder::depth_first() const {
  const auto& nodes = profile_.nodes;
  // Sorted by parent, siblings in reverse order of name: so a stack pops them in order.
  std::vector<uint32_t> by_parent(nodes.size());
  std::iota(by_parent.begin(), by_parent.end(), 0u);
  auto parent_rank = [&](uint32_t node) {
    return nodes[node].parent.valid() ? uint64_t{nodes[node].parent.value} + 1 : 0;
  };
  std::ranges::sort(by_parent, [&](uint32_t a, uint32_t b) {
    if (parent_rank(a) != parent_rank(b)) return parent_rank(a) < parent_rank(b);
    std::string_view name_a = profile_.name_of(StackNodeId(a));
    std::string_view name_b = profile_.name_of(StackNodeId(b));
    return name_a != name_b ? name_a > name_b : a > b;
  });
  std::vector<uint32_t> first_child(nodes.size() + 2, 0);
  for (uint32_t node : by_parent) ++first_child[parent_rank(node) + 1];
  std::partial_sum(first_child.begin(), first_child.end(), first_child.begin());

  std::vector<StackNodeId> order;
  order.reserve(nodes.size());
  std::vector<uint32_t> waiting(by_parent.begin(), by_parent.begin() + first_child[1]);
  while (!waiting.empty()) {
    uint32_t node = waiting.back();
    waiting.pop_back();
    order.emplace_back(node);
    for (uint32_t i = first_child[node + 1]; i < first_child[node + 2]; ++i)
      waiting.push_back(by_parent[i]);
  }
  return order;
}

StackProfile StackTreeBuilder::finish(std::vector<StackNodeId>* new_numbers) && {
  std::vector<StackNodeId> order = depth_first();
  std::vector<StackNodeId> new_number(order.size());
  LargeVector<StackNode> nodes(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    new_number[order[i].index()] = StackNodeId(i);
    StackNode node = profile_.nodes[order[i].index()];
    if (node.parent.valid()) node.parent = new_number[node.parent.index()];
    node.end = static_cast<uint32_t>(i + 1);
    nodes[i] = node;
  }
  for (size_t i = nodes.size(); i-- > 0;)
    if (StackNodeId parent = nodes[i].parent; parent.valid()) {
      uint32_t& end = nodes[parent.index()].end;
      end = std::max(end, nodes[i].end);
    }
  for (StackColumn& column : profile_.columns) {
    column.self.resize(order.size());
    std::vector<double> self(order.size());
    for (size_t i = 0; i < order.size(); ++i) self[i] = column.self[order[i].index()];
    column.self = std::move(self);
  }
  for (StackNodeId& node : profile_.samples.node)
    if (node.valid()) node = new_number[node.index()];
  profile_.nodes = std::move(nodes);
  sort_by_time(profile_.samples);
  if (new_numbers != nullptr) *new_numbers = std::move(new_number);
  return std::move(profile_);
}

}  // namespace sonde
