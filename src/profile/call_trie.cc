#include "profile/call_trie.h"

#include "base/check.h"

namespace sonde {

uint32_t CallTrie::open(uint32_t parent, uint32_t key) {
  CHECK(nodes_.size() < kNone);
  auto node = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({parent, key, node + 1});
  current_.push_back(node);
  return node;
}

void CallTrie::close(size_t depth) {
  for (size_t i = depth; i < current_.size(); ++i)
    nodes_[current_[i]].end = static_cast<uint32_t>(nodes_.size());
  current_.resize(depth);
}

uint32_t CallTrie::add_root(uint32_t key) {
  close(0);
  return open(kNone, key);
}

uint32_t CallTrie::append(std::span<const uint32_t> path) {
  CHECK(!current_.empty());
  size_t same = 0;
  size_t limit = std::min(path.size(), current_.size() - 1);
  while (same < limit && nodes_[current_[same + 1]].key == path[same]) ++same;
  close(same + 1);
  for (uint32_t key : path.subspan(same)) open(current_.back(), key);
  return current_.back();
}

}  // namespace sonde
