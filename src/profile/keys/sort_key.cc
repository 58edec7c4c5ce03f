#include "profile/keys/sort_key.h"

#include <strings.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/text.h"

namespace sonde {

#define SORT_KEY(name, ...) \
  Result<std::unique_ptr<SortKey>> make_##name##_key(const ProfileInput&, const KeySettings&);
#include "profile/keys/sort_keys.def"
#undef SORT_KEY

namespace {
enum class Chains : bool { kNotNeeded, kNeeded };

constexpr SortKeyInfo key_info(std::string_view name, SortKeyFactory make, KeyFamily family,
                               Chains chains = Chains::kNotNeeded) {
  return {name, family, make, chains == Chains::kNeeded};
}

using enum KeyFamily;
constexpr auto kKeys = std::to_array<SortKeyInfo>({
#define SORT_KEY(name, ...) key_info(#name, make_##name##_key, __VA_ARGS__),
#include "profile/keys/sort_keys.def"
#undef SORT_KEY
});
}  // namespace

std::span<const SortKeyInfo> sort_key_list() {
  return kKeys;
}

bool need_chains(std::string_view keys) {
  return std::ranges::any_of(split(keys, ','), [](std::string_view word) {
    while (word.starts_with('+') || word.starts_with('-') || word.starts_with(' '))
      word.remove_prefix(1);
    const SortKeyInfo* key = find_sort_key(word);
    return key != nullptr && key->needs_chains;
  });
}

const SortKeyInfo* find_sort_key(std::string_view word) {
  if (word.empty()) return nullptr;
  for (const SortKeyInfo& key : kKeys)
    if (word.size() <= key.name.size() &&
        strncasecmp(word.data(), key.name.data(), word.size()) == 0)
      return &key;
  return nullptr;
}

uint64_t SortKey::of_row(RowReader& /*row*/) {
  CHECK(false);
  return 0;
}
uint64_t SortKey::of_place(const CodePlace& /*place*/) {
  CHECK(false);
  return 0;
}

int SortKey::collate(uint64_t a, uint64_t b) const {
  return three_way(a, b);
}

std::vector<uint32_t> SortKey::ranks(std::span<const uint64_t> distinct, Order which) const {
  auto before = [&](uint32_t a, uint32_t b) {
    int by = which == Order::kShown ? order(distinct[a], distinct[b])
                                    : collate(distinct[a], distinct[b]);
    return by < 0;
  };
  std::vector<uint32_t> sorted(distinct.size());
  for (uint32_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
  std::ranges::stable_sort(sorted, before);
  std::vector<uint32_t> ranks(sorted.size(), 0);
  for (size_t i = 1; i < sorted.size(); ++i)
    ranks[sorted[i]] = ranks[sorted[i - 1]] + (before(sorted[i - 1], sorted[i]) ? 1 : 0);
  return ranks;
}

std::string SortKey::identity(uint64_t value, uint32_t first_sample) const {
  std::string shown;
  text_of_row(value, first_sample, shown);
  return std::string(trim(shown));
}

size_t SortKey::width(uint64_t value, uint32_t /*first_sample*/) const {
  std::string shown;
  text(value, shown);
  return shown.size();
}

}  // namespace sonde
