// mem mmap: mapping memory and touching its pages, on demand or populated by mmap(2) itself, and
// unmapping it.
#include <sys/mman.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "benchmarks/mem/memory_loop.h"

namespace sonde {

namespace {

enum MmapFunction : size_t { kDemand, kPopulate };

class Mmap final : public MemoryLoop {
 public:
  Mmap()
      : MemoryLoop({{"demand", "Demand loaded mmap()"}, {"populate", "Eagerly populated mmap()"}}) {
  }

  void declare(FlagTable& flags) override {
    MemoryLoop::declare(flags);
    flags.number('r', "randomize", seed_, "n",
                 "touch the pages in an order drawn with this seed (0: ascending)");
  }

 private:
  Result<std::function<Result<>()>> prepare(size_t index) override {
    TRY(MemoryArea::map(options().size, options().page));  // if that fails, nothing is allocated
    size_t pages = (options().size + options().page - 1) / options().page;
    order_.resize(pages);
    std::iota(order_.begin(), order_.end(), size_t{0});
    if (seed_ != 0) std::ranges::shuffle(order_, std::mt19937_64(seed_));
    return [this, index]() -> Result<> {
      for (unsigned i = 0; i < options().loops; ++i) TRY(map_and_touch(index));
      return {};
    };
  }

  [[nodiscard]] Result<> map_and_touch(size_t index) const {
    MemoryArea area =
        TRY(MemoryArea::map(options().size, options().page, index == kPopulate ? MAP_POPULATE : 0));
    if (index == kPopulate) return {};
    volatile char* data = area.data();
    for (size_t page : order_) data[page * options().page] = 1;
    return {};
  }

  unsigned seed_ = 0;
  std::vector<size_t> order_;
};

}  // namespace

std::unique_ptr<Benchmark> make_mem_mmap() {
  return std::make_unique<Mmap>();
}

}  // namespace sonde
