#include "benchmarks/numa/shared_memory.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace sonde {

Result<WalkedMemory> WalkedMemory::map(size_t bytes, bool shared, int huge_pages) {
  WalkedMemory memory;
  if (bytes == 0) return memory;
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);
  if (data == MAP_FAILED)
    return fail(ErrorCode::kFailed, "cannot map {} MB of memory: {}", bytes >> 20,
                std::strerror(errno));
  if (huge_pages != 0) ::madvise(data, bytes, huge_pages > 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  memory.words_ = {static_cast<uint64_t*>(data), bytes / sizeof(uint64_t)};
  return memory;
}

WalkedMemory::WalkedMemory(WalkedMemory&& other) noexcept
    : words_(std::exchange(other.words_, {})) {}

WalkedMemory& WalkedMemory::operator=(WalkedMemory&& other) noexcept {
  std::swap(words_, other.words_);
  return *this;
}

WalkedMemory::~WalkedMemory() {
  if (!words_.empty()) ::munmap(words_.data(), words_.size_bytes());
}

int bind_to_node(unsigned node) {
  constexpr unsigned kBits = 8 * sizeof(unsigned long);
  std::vector<unsigned long> mask(node / kBits + 1);
  mask.back() = 1ul << node % kBits;
  // The kernel takes one bit less than it is told.
  return ::syscall(SYS_set_mempolicy, MPOL_BIND, mask.data(), mask.size() * kBits + 1) ? errno : 0;
}

int bind_to_cpu(int cpu) {
  std::vector<cpu_set_t> sets(static_cast<size_t>(cpu) / CPU_SETSIZE + 1);
  size_t bytes = sets.size() * sizeof(cpu_set_t);
  CPU_ZERO_S(bytes, sets.data());
  CPU_SET_S(static_cast<size_t>(cpu), bytes, sets.data());
  return ::sched_setaffinity(0, bytes, sets.data()) ? errno : 0;
}

}  // namespace sonde
