#include "profile/call_trie.h"

#include "base/check.h"

namespace sonde {

CallTrie::CallTrie() : slots_(1024, kNone) {}

uint32_t CallTrie::add_root(uint32_t group) {
  auto node = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({kNone, group});
  return node;
}

uint32_t CallTrie::child(uint32_t parent, uint32_t key) {
  size_t mask = slots_.size() - 1;
  size_t at = hash(parent, key) & mask;
  for (; slots_[at] != kNone; at = (at + 1) & mask) {
    const Node& node = nodes_[slots_[at]];
    if (node.parent == parent && node.key == key) return slots_[at];
  }
  auto made = static_cast<uint32_t>(nodes_.size());
  CHECK(made != kNone);
  slots_[at] = made;
  nodes_.push_back({parent, key});
  if (nodes_.size() * 2 > slots_.size()) grow();
  return made;
}

void CallTrie::grow() {
  std::vector<uint32_t> slots(slots_.size() * 4, kNone);
  size_t mask = slots.size() - 1;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].parent == kNone) continue;
    size_t at = hash(nodes_[i].parent, nodes_[i].key) & mask;
    while (slots[at] != kNone) at = (at + 1) & mask;
    slots[at] = i;
  }
  slots_ = std::move(slots);
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
