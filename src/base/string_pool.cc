#include "base/string_pool.h"

#include <algorithm>
#include <cstring>

namespace sonde {
namespace {
constexpr size_t kBlockSize = 64 * 1024;
}

StringPool::StringPool() = default;

StringId StringPool::intern(std::string_view text) {
  std::scoped_lock lock(mutex_);
  if (auto found = ids_.find(text); found != ids_.end()) return StringId(found->second);
  std::string_view kept = store(text);
  StringId id(strings_.size());
  strings_.push_back(kept);
  ids_.emplace(kept, id.value);
  return id;
}

std::string_view StringPool::view(StringId id) const {
  if (!id.valid()) return {};
  std::scoped_lock lock(mutex_);
  return strings_[id.index()];
}

size_t StringPool::size() const {
  std::scoped_lock lock(mutex_);
  return strings_.size();
}

std::string_view StringPool::store(std::string_view text) {
  if (text.size() > free_size_) {
    size_t size = std::max(kBlockSize, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    free_ = blocks_.back().get();
    free_size_ = size;
  }
  if (!text.empty()) std::memcpy(free_, text.data(), text.size());
  std::string_view kept(free_, text.size());
  free_ += text.size();
  free_size_ -= text.size();
  return kept;
}

}  // namespace sonde
