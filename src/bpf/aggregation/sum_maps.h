// SumMaps: the maps of a BPF program that counts samples by thread and call chain
// (bpf/programs/sum_maps.h). Counting goes on window by window: what one window counted is read and
// emptied while the next is counted.
//
//   SumMaps sums = …;   sums.set_entries(16384);     before the program is loaded
//   … the program runs …
//   StackSumWindow window = sums.take();              from time to time
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <vector>

#include "bpf/programs/stack_sums.h"

struct bpf_map;

namespace sonde {

struct StackSumRow {
  uint32_t pid = 0, tid = 0;
  uint32_t cpu = UINT32_MAX;  // UINT32_MAX: of any
  uint32_t event = 0;         // cookie of the program
  uint32_t end = 0;           // walk_end of a user chain that was walked
  walk_object_key object{};   // that the walk ended in
  uint64_t ip = 0;
  uint64_t count = 0;                              // samples
  uint64_t period = 0;                             // the sum of theirs
  uint64_t last_ns = 0;                            // when the last was taken; CLOCK_MONOTONIC
  std::vector<uint64_t> kernel_chain, user_chain;  // innermost first, without context markers
};

struct StackSumWindow {
  std::vector<StackSumRow> rows;  // those of a thread together, similar ones side by side
  uint64_t written = 0;           // samples that the kernel wrote because there was no room
};

class SumMaps {
 public:
  /// `maps`: those of the even windows, then those of the odd ones. All must outlive this object.
  struct Maps {
    bpf_map *parts[2], *sums[2];
  };
  SumMaps() = default;
  explicit SumMaps(const Maps& maps) : maps_(maps) {}

  /// Of a window: rows, and twice as many parts of chains. A part takes 350 bytes of kernel memory,
  /// a row 200, all of it twice.
  void set_entries(uint32_t most);
  /// `state` is that of the loaded program.
  void set_state(sum_state* state) { state_ = state; }

  /// Whether the window should be taken before it is full.
  [[nodiscard]] bool is_nearly_full() const;
  /// Ends the window and begins the next. Waits until no program counts in the old one any more:
  /// some milliseconds.
  StackSumWindow take();

 private:
  Maps maps_{};
  sum_state* state_ = nullptr;
  uint64_t most_rows_ = 0;
  uint64_t written_ = 0;  // up to the last window
};

}  // namespace sonde
