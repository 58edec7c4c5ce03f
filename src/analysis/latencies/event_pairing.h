// Pairs an event that begins something with the event that ends it, and measures the time between
// them.
//
//   EventPairing pairing(EventPairing::Nesting::kNone);
//   pairing.begin(key, 100);
//   pairing.end(key, 130);     // 30
//
// Events without a partner are counted by kind: nothing is lost silently.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <tsl/robin_map.h>

namespace sonde {

/// What partners have in common: the values of up to four fields.
using PairKey = std::array<uint64_t, 4>;

class EventPairing {
 public:
  enum class Nesting : uint8_t {
    kNone,   // a second begin replaces the first, which then has no end
    kCalls,  // a begin inside a begin is a nested call: the last to begin ends first
  };
  struct Counts {
    uint64_t pairs = 0;
    uint64_t replaced = 0;    // begins followed by another begin of the same key
    uint64_t ends_alone = 0;  // ends without a begin
    uint64_t backward = 0;    // ends before their begin; these are not pairs
  };

  explicit EventPairing(Nesting nesting) : nesting_(nesting) {}

  void begin(const PairKey& key, uint64_t time_ns);
  /// ns since the begin; nothing if there was none.
  std::optional<uint64_t> end(const PairKey& key, uint64_t time_ns);

  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// Begins whose end has not come yet.
  [[nodiscard]] uint64_t still_open() const { return open_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Begin {
    uint64_t time_ns;
    uint32_t outer;  // the enclosing begin; in a free place: the next free one
  };
  struct KeyHash {
    size_t operator()(const PairKey& key) const;
  };
  uint32_t take_place();
  void free_place(uint32_t place);

  Nesting nesting_;
  tsl::robin_map<PairKey, uint32_t, KeyHash> innermost_;  // place in begins_; kNone: none is open
  std::vector<Begin> begins_;
  uint32_t first_free_ = kNone;
  Counts counts_;
  uint64_t open_ = 0;
};

}  // namespace sonde
