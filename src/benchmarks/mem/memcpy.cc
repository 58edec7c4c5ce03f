// mem memcpy: the C library's memcpy(), and on x86 those that the kernel chooses from.
#include <cstring>

#include "benchmarks/mem/memory_loop.h"

namespace sonde {

namespace {

using Copy = void (*)(char* to, const char* from, size_t bytes);

void copy_by_library(char* to, const char* from, size_t bytes) {
  std::memcpy(to, from, bytes);
  asm volatile("" : : "r"(to) : "memory");
}

#ifdef __x86_64__
void copy_bytes(char* to, const char* from, size_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

void copy_words(char* to, const char* from, size_t bytes) {
  size_t words = bytes / 8;
  asm volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
  copy_bytes(to, from, bytes % 8);
}

void copy_unrolled(char* to, const char* from, size_t bytes) {
  for (size_t blocks = bytes / 32; blocks > 0; --blocks, to += 32, from += 32)
    asm volatile(
        "movq (%1), %%r8\n\tmovq 8(%1), %%r9\n\tmovq 16(%1), %%r10\n\tmovq 24(%1), %%r11\n\t"
        "movq %%r8, (%0)\n\tmovq %%r9, 8(%0)\n\tmovq %%r10, 16(%0)\n\tmovq %%r11, 24(%0)"
        :
        : "r"(to), "r"(from)
        : "r8", "r9", "r10", "r11", "memory");
  copy_bytes(to, from, bytes % 32);
}
#endif

struct CopyFunction {
  MemoryFunction info;
  Copy copy;
};

constexpr CopyFunction kCopies[] = {
    {{"default", "Default memcpy() provided by glibc"}, copy_by_library},
#ifdef __x86_64__
    {{"x86-64-unrolled", "unrolled memcpy() like that of arch/x86/lib/memcpy_64.S"}, copy_unrolled},
    {{"x86-64-movsq", "movsq-based memcpy() like that of arch/x86/lib/memcpy_64.S"}, copy_words},
    {{"x86-64-movsb", "movsb-based memcpy() like that of arch/x86/lib/memcpy_64.S"}, copy_bytes},
#endif
};

std::vector<MemoryFunction> copy_functions() {
  std::vector<MemoryFunction> functions;
  for (const CopyFunction& function : kCopies) functions.push_back(function.info);
  return functions;
}

class Memcpy final : public MemoryLoop {
 public:
  Memcpy() : MemoryLoop(copy_functions()) {}

 private:
  struct Buffers {
    MemoryArea from, to;
  };

  Result<std::function<Result<>()>> prepare(size_t index) override {
    const Options& o = options();
    auto buffers = std::make_unique<Buffers>(TRY(MemoryArea::map(o.size, o.page)),
                                             TRY(MemoryArea::map(o.size, o.page)));
    // Every page is there before the first copy.
    std::memset(buffers->from.data(), 0, o.size);
    std::memset(buffers->to.data(), 1, o.size);
    Copy copy = kCopies[index].copy;
    copy(buffers->to.data(), buffers->from.data(), o.size);
    buffers_ = std::move(buffers);
    return [this, copy]() -> Result<> {
      const Options& chosen = options();
      char *to = buffers_->to.data(), *from = buffers_->from.data();
      for (unsigned i = 0; i < chosen.loops; ++i)
        for_each_chunk(chosen.size, chosen.chunk, [&](size_t offset, size_t bytes) {
          copy(to + offset, from + offset, bytes);
        });
      return {};
    };
  }

  std::unique_ptr<Buffers> buffers_;
};

}  // namespace

std::unique_ptr<Benchmark> make_mem_memcpy() {
  return std::make_unique<Memcpy>();
}

}  // namespace sonde
