#include "bpf/map_text.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace sonde {
namespace {

/// The bytes of a number of this machine (little-endian) as one; long ones in pieces of 8 bytes.
std::string hex_words(const std::vector<std::byte>& bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    size_t size = std::min(sizeof word, bytes.size() - at);
    std::memcpy(&word, bytes.data() + at, size);
    fmt::format_to(std::back_inserter(text), "{}{:#x}", at == 0 ? "" : " ", word);
  }
  return text;
}

std::string key_text(const std::vector<std::byte>& key) {
  if (key.size() > sizeof(uint64_t)) return hex_words(key);
  uint64_t number = 0;
  std::memcpy(&number, key.data(), key.size());
  return fmt::format("{}", number);
}

bool is_per_cpu(uint32_t type) {
  return type == BPF_MAP_TYPE_PERCPU_HASH || type == BPF_MAP_TYPE_PERCPU_ARRAY ||
         type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

bool is_array(uint32_t type) {
  return type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

}  // namespace

Result<int> find_map(const bpf_object* object, std::string_view name) {
  const bpf_map* map = bpf_object__find_map_by_name(object, std::string(name).c_str());
  if (map == nullptr) return fail(ErrorCode::kNotFound, "ERROR: BPF map \"{}\" not found", name);
  return bpf_map__fd(map);
}

Result<> write_map(int map, Sink& out) {
  bpf_map_info info{};
  uint32_t size = sizeof info;
  if (bpf_obj_get_info_by_fd(map, &info, &size) != 0)
    return fail(ErrorCode::kIo, "a BPF map's description: {}", std::strerror(errno));
  auto cpus = static_cast<size_t>(std::max(libbpf_num_possible_cpus(), 1));
  size_t value_size = info.value_size;
  if (is_per_cpu(info.type)) value_size = (value_size + 7) / 8 * 8 * cpus;
  std::vector<std::byte> key(info.key_size), next(info.key_size), value(value_size);
  const void* before = nullptr;
  while (bpf_map_get_next_key(map, before, next.data()) == 0) {
    key = next;
    before = key.data();
    if (bpf_map_lookup_elem(map, key.data(), value.data()) != 0) continue;
    bool is_zero = std::ranges::all_of(value, [](std::byte byte) { return byte == std::byte{}; });
    if (is_zero && is_array(info.type)) continue;
    out.print("[{}] = {},\n", key_text(key), hex_words(value));
  }
  if (errno != ENOENT)
    return fail(ErrorCode::kUnsupported, "--map-dump {}: the kernel does not list its entries: {}",
                static_cast<const char*>(info.name), std::strerror(errno));
  return {};
}

}  // namespace sonde
