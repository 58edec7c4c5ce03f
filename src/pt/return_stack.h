// Where the calls of a trace return to: a processor that compresses returns remembers this many
// calls (SDM, volume 3, "RET Compression"), and forgets the outermost beyond.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sonde::pt {

class ReturnStack {
 public:
  struct Call {
    uint64_t returns_to = 0;
    uint32_t block = 0;  // that ended with the call
  };

  void clear() { count_ = 0; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  void push(uint64_t returns_to, uint32_t block) {
    top_ = (top_ + 1) % kMost;
    calls_[top_] = {returns_to, block};
    if (count_ < kMost) ++count_;
  }
  Call pop() {
    Call innermost = calls_[top_];
    top_ = (top_ + kMost - 1) % kMost;
    --count_;
    return innermost;
  }
  /// Blocks are numbered anew: `none` is none of them.
  void forget_blocks(uint32_t none) {
    for (Call& call : calls_) call.block = none;
  }

 private:
  static constexpr size_t kMost = 64;
  std::array<Call, kMost> calls_;
  size_t top_ = 0, count_ = 0;
};

}  // namespace sonde::pt
