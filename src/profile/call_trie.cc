#include "profile/call_trie.h"

#include "base/check.h"

namespace sonde {

CallTrie::CallTrie() = default;

uint32_t CallTrie::add_root(uint32_t group) {
  auto node = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({kNone, group});
  return node;
}

uint32_t CallTrie::find(uint32_t parent, uint32_t key) const {
  for (size_t at = first_slot(parent, key); slots_[at].node != kNone; at = next_slot(at)) {
    const Slot& seen = slots_[at];
    if (seen.parent == parent && seen.key == key) return seen.node;
  }
  return kNone;
}

uint32_t CallTrie::child(uint32_t parent, uint32_t key) {
  if (uint32_t known = find(parent, key); known != kNone) return known;
  make_room(1);
  auto made = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({parent, key});
  insert({parent, key, made});
  return made;
}

void CallTrie::descend(uint32_t node, std::span<const uint32_t> keys,
                       std::vector<uint32_t>& nodes) {
  for (size_t i = 0; i < keys.size(); ++i) {
    uint32_t known = find(node, keys[i]);
    if (known == kNone) return add_new(node, keys.subspan(i), nodes);
    nodes.push_back(node = known);
  }
}

/// Below a new node everything is new: all slots are asked for before the first is written.
void CallTrie::add_new(uint32_t parent, std::span<const uint32_t> keys,
                       std::vector<uint32_t>& nodes) {
  make_room(keys.size());
  uint32_t above = parent;
  for (uint32_t key : keys) {
    __builtin_prefetch(&slots_[first_slot(above, key)], 1);
    auto made = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({above, key});
    nodes.push_back(above = made);
  }
  size_t first = nodes_.size() - keys.size();
  for (size_t i = 0; i < keys.size(); ++i) {
    const Node& node = nodes_[first + i];
    insert({node.parent, node.key, static_cast<uint32_t>(first + i)});
  }
}

void CallTrie::insert(const Slot& edge) {
  size_t at = first_slot(edge.parent, edge.key);
  while (slots_[at].node != kNone) at = next_slot(at);
  slots_[at] = edge;
}

void CallTrie::make_room(size_t more) {
  CHECK(nodes_.size() + more < kNone);
  if ((nodes_.size() + more) * 2 <= slots_.size()) return;
  size_t size = slots_.size();
  while ((nodes_.size() + more) * 2 > size) {
    size *= 2;
    --shift_;
  }
  LargeVector<Slot> old(size);
  old.swap(slots_);
  for (const Slot& edge : old)
    if (edge.node != kNone) insert(edge);
}

void CallTrie::index_children() {
  first_child_.assign(nodes_.size() + 1, 0);
  for (const Node& node : nodes_)
    if (node.parent != kNone) ++first_child_[node.parent + 1];
  for (size_t i = 1; i < first_child_.size(); ++i) first_child_[i] += first_child_[i - 1];
  children_.resize(first_child_.back());
  std::vector<uint32_t> fill(first_child_.begin(), first_child_.end() - 1);
  for (uint32_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].parent != kNone) children_[fill[nodes_[i].parent]++] = i;
}

}  // namespace sonde
