// When a machine that follows a live stream may forget what has ended: a task may be sampled
// shortly after its EXIT record, but not a second later.
#pragma once

#include <cstdint>
#include <optional>

namespace sonde {

class ForgetPolicy {
 public:
  /// Reports progress: how many tasks have ended, and the time of the newest record. Now and then
  /// returns a time; everything that ended before it may be forgotten.
  std::optional<uint64_t> after(uint64_t exits, uint64_t now_ns) {
    constexpr uint64_t kExits = 256;
    constexpr uint64_t kPatience_ns = 1'000'000'000;
    exits_ += exits;
    if (exits_ < kExits || now_ns < forget_to_ns_ + kPatience_ns) return std::nullopt;
    exits_ = 0;
    uint64_t before = forget_to_ns_;
    forget_to_ns_ = now_ns;
    return before;
  }

 private:
  uint64_t exits_ = 0;
  uint64_t forget_to_ns_ = 0;  // what had ended by then is forgotten next
};

}  // namespace sonde
