// Digest: stands for content that is not kept. Whoever has a shorter hash compares the content.
//
//   tsl::robin_map<Digest, uint32_t, DigestHash> known;
//   known.try_emplace(digest_of(line), number);
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sonde {

struct Digest {
  uint64_t low = 0, high = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};

/// 128 bits: contents with equal digests are taken for equal. Without a seed: with one, XXH3 of 9
/// to 16 bytes gives the same for inputs that differ in a few bits. What else the content depends
/// on is hashed with it.
[[nodiscard]] inline Digest digest_of(const void* content, size_t bytes) {
  XXH128_hash_t hash = XXH3_128bits(content, bytes);
  return {hash.low64, hash.high64};
}
template <typename T>
[[nodiscard]] Digest digest_of(std::span<const T> content) {
  return digest_of(content.data(), content.size_bytes());
}
[[nodiscard]] inline Digest digest_of(std::string_view text) {
  return digest_of(text.data(), text.size());
}

struct DigestHash {
  size_t operator()(const Digest& digest) const { return digest.low; }
};

}  // namespace sonde
