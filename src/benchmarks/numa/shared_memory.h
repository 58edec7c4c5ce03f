// Memory of the tasks of numa mem: anonymous, shared with child processes or private.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"

namespace sonde {

class WalkedMemory {
 public:
  /// `huge_pages`: more than 0 asks for them, less forbids them (madvise(2)).
  static Result<WalkedMemory> map(size_t bytes, bool shared, int huge_pages);
  WalkedMemory() = default;
  WalkedMemory(WalkedMemory&& other) noexcept;
  WalkedMemory& operator=(WalkedMemory&& other) noexcept;
  ~WalkedMemory();

  [[nodiscard]] std::span<uint64_t> words() const { return words_; }

 private:
  std::span<uint64_t> words_;
};

/// The calling thread's allocations come from this node only (set_mempolicy(2)). An errno, or 0.
int bind_to_node(unsigned node);
/// The calling thread runs on this CPU only. An errno, or 0.
int bind_to_cpu(int cpu);

}  // namespace sonde
