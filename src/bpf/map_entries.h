// The entries of a program's hash map, which may change during the iteration.
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

namespace sonde {

/// Calls `use` with each key, and with its value in `value`, which has room for one (for all CPUs,
/// if the map is per-CPU).
template <typename Key, typename Value, typename Use>
void for_each_entry(const bpf_map* map, Value* value, Use&& use) {
  int fd = bpf_map__fd(map);
  Key key{}, next{};
  for (const void* before = nullptr; bpf_map_get_next_key(fd, before, &next) == 0; before = &key) {
    key = next;
    if (bpf_map_lookup_elem(fd, &key, value) == 0) use(key);
  }
}
template <typename Key, typename Value, typename Use>
void for_each_entry(const bpf_map* map, Use&& use) {
  Value value{};
  for_each_entry<Key>(map, &value, [&](const Key& key) { use(key, value); });
}

}  // namespace sonde
