// Sorts rows by keys that the user names: "frag,hit,bytes".
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace sonde {

template <typename Row>
struct RowKey {
  std::string_view name;
  bool (*is_less)(const Row& a, const Row& b);
};

/// Largest first, stably. Fails with kUsage on an unknown key. `kind` names the rows in that
/// message.
template <typename Row>
Result<> sort_rows(std::vector<Row>& rows, std::string_view keys,
                   std::span<const RowKey<Row>> known, std::string_view kind) {
  std::vector<RowKey<Row>> chosen;
  for (std::string_view raw : split(keys, ',')) {
    std::string_view word = trim(raw);
    if (word.empty()) continue;
    auto key = std::ranges::find(known, word, &RowKey<Row>::name);
    if (key == known.end())
      return fail(ErrorCode::kUsage, "Error: Unknown {} --sort key: '{}'", kind, word);
    chosen.push_back(*key);
  }
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
    for (const RowKey<Row>& key : chosen) {
      if (key.is_less(b, a)) return true;
      if (key.is_less(a, b)) return false;
    }
    return false;
  });
  return {};
}

}  // namespace sonde
