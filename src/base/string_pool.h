// Strings by id: each distinct string is stored once and lives as long as the pool.
//
// Views stay valid for the pool's life. `intern` may be called from several threads.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "base/ids.h"

namespace sonde {

using StringId = Id<struct StringIdTag>;

class StringPool {
 public:
  StringPool();
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;

  StringId intern(std::string_view text);
  /// The empty string for an invalid id.
  [[nodiscard]] std::string_view view(StringId id) const;
  [[nodiscard]] size_t size() const;

 private:
  std::string_view store(std::string_view text);

  mutable std::mutex mutex_;
  std::deque<std::string_view> strings_;
  tsl::robin_map<std::string_view, uint32_t> ids_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  size_t free_size_ = 0;
};

}  // namespace sonde
