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

size_t CallTrie::steps_in_common(std::span<const uint32_t> path) const {
  CHECK(!current_.empty());
  size_t same = 0;
  size_t limit = std::min(path.size(), current_.size() - 1);
  while (same < limit && nodes_[current_[same + 1]].key == path[same]) ++same;
  return same;
}

}  // namespace sonde
