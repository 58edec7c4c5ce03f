#include "benchmarks/numa/memory_walk.h"

#include <cstring>

namespace sonde {

namespace {

/// The compiler must neither leave out nor merge what is measured.
void touch(uint64_t& word, bool read, bool write) {
  auto& memory = const_cast<volatile uint64_t&>(word);
  uint64_t value = read ? memory : 0;
  if (write) memory = value + 1;
}

/// A Galois shift register of 32 bits with the longest period (taps 32, 22, 2, 1).
uint32_t next_of(uint32_t state) {
  return state >> 1 ^ ((state & 1) != 0 ? 0x80200003u : 0);
}

}  // namespace

uint64_t MemoryWalk::pass(std::span<uint64_t> words) const {
  if (words.empty()) return 0;
  if (clears) {
    std::memset(words.data(), 0, words.size_bytes());
    asm volatile("" : : "r"(words.data()) : "memory");
    return words.size_bytes();
  }
  bool both = !reads && !writes, read = reads || both, write = writes || both;
  if (random) {
    uint32_t state = 0x12345678;
    for (size_t i = 0; i < words.size(); ++i, state = next_of(state))
      touch(words[state % words.size()], read, write);
    return words.size_bytes();
  }
  for (uint64_t& word : words) touch(word, read, write);
  if (!backwards) return words.size_bytes();
  for (size_t i = words.size(); i > 0; --i) touch(words[i - 1], read, write);
  return 2 * words.size_bytes();
}

}  // namespace sonde
