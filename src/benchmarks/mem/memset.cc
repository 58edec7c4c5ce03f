// mem memset: the C library's memset(), and on x86 those that the kernel chooses from.
#include <cstring>
#include <optional>

#include "benchmarks/mem/memory_loop.h"

namespace sonde {

namespace {

using Set = void (*)(char* to, size_t bytes);
constexpr int kSetTo = 0x5a;

void set_by_library(char* to, size_t bytes) {
  std::memset(to, kSetTo, bytes);
  asm volatile("" : : "r"(to) : "memory");
}

#ifdef __x86_64__
constexpr uint64_t kSetWord = 0x5a5a5a5a5a5a5a5a;

void set_bytes(char* to, size_t bytes) {
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(kSetWord) : "memory");
}

void set_words(char* to, size_t bytes) {
  size_t words = bytes / 8;
  asm volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(kSetWord) : "memory");
  set_bytes(to, bytes % 8);
}

void set_unrolled(char* to, size_t bytes) {
  for (size_t blocks = bytes / 64; blocks > 0; --blocks, to += 64)
    asm volatile(
        "movq %1, (%0)\n\tmovq %1, 8(%0)\n\tmovq %1, 16(%0)\n\tmovq %1, 24(%0)\n\t"
        "movq %1, 32(%0)\n\tmovq %1, 40(%0)\n\tmovq %1, 48(%0)\n\tmovq %1, 56(%0)"
        :
        : "r"(to), "r"(kSetWord)
        : "memory");
  set_bytes(to, bytes % 64);
}
#endif

struct SetFunction {
  MemoryFunction info;
  Set set;
};

constexpr SetFunction kSets[] = {
    {{"default", "Default memset() provided by glibc"}, set_by_library},
#ifdef __x86_64__
    {{"x86-64-unrolled", "unrolled memset() like that of arch/x86/lib/memset_64.S"}, set_unrolled},
    {{"x86-64-stosq", "stosq-based memset() like that of arch/x86/lib/memset_64.S"}, set_words},
    {{"x86-64-stosb", "stosb-based memset() like that of arch/x86/lib/memset_64.S"}, set_bytes},
#endif
};

std::vector<MemoryFunction> set_functions() {
  std::vector<MemoryFunction> functions;
  for (const SetFunction& function : kSets) functions.push_back(function.info);
  return functions;
}

class Memset final : public MemoryLoop {
 public:
  Memset() : MemoryLoop(set_functions()) {}

 private:
  Result<std::function<Result<>()>> prepare(size_t index) override {
    buffer_.reset();
    buffer_.emplace(TRY(MemoryArea::map(options().size, options().page)));
    Set set = kSets[index].set;
    set(buffer_->data(), options().size);  // every page is there before the measured calls
    return [this, set]() -> Result<> {
      const Options& chosen = options();
      for (unsigned i = 0; i < chosen.loops; ++i)
        for_each_chunk(chosen.size, chosen.chunk,
                       [&](size_t offset, size_t bytes) { set(buffer_->data() + offset, bytes); });
      return {};
    };
  }

  std::optional<MemoryArea> buffer_;
};

}  // namespace

std::unique_ptr<Benchmark> make_mem_memset() {
  return std::make_unique<Memset>();
}

}  // namespace sonde
