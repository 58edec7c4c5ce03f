// mem find_bit: visiting the set bits of a bitmap, by searching for the next, and by testing each.
#include <bit>
#include <vector>

#include "base/clock.h"
#include "base/running_stats.h"
#include "benchmarks/benchmark.h"

namespace sonde {

namespace {

constexpr unsigned kWordBits = 64;
constexpr unsigned kMaxBits = 2048;

using Bitmap = std::vector<uint64_t>;

/// Hides from the compiler that a value is not used, or does not change.
template <typename T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

unsigned visit_by_search(const Bitmap& bits) {
  unsigned sum = 0;
  for (uint64_t word : bits)
    for (; word != 0; word &= word - 1) sum += static_cast<unsigned>(std::countr_zero(word));
  return sum;
}

unsigned visit_by_test(const Bitmap& bits, unsigned count) {
  unsigned sum = 0;
  for (unsigned bit = 0; bit < count; ++bit)
    if (bits[bit / kWordBits] >> bit % kWordBits & 1) sum += bit % kWordBits;
  return sum;
}

class FindBit final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    flags.number('i', "outer-iterations", outer_, "n", "measurements, for the average (5)");
    flags.number('j', "inner-iterations", inner_, "n",
                 "visits of the whole bitmap in each measurement (100000)");
  }

  Result<> run(BenchmarkRun& run) override {
    for (unsigned count = 1; count <= kMaxBits; count *= 2)
      for (unsigned set = 1; set <= count; set *= 2) measure(run.report, count, set);
    return {};
  }

 private:
  void measure(Reporter& report, unsigned count, unsigned set) const {
    Bitmap bits((count + kWordBits - 1) / kWordBits);
    for (unsigned bit = 0; bit < count; bit += count / set)
      bits[bit / kWordBits] |= uint64_t{1} << bit % kWordBits;
    report.line("{} operations {} bits set of {} bits", inner_, set, count);
    put(report, "for_each_set_bit took:", time_us([&] { return visit_by_search(bits); }, bits));
    put(report,
        "test_bit loop took:   ", time_us([&] { return visit_by_test(bits, count); }, bits));
  }

  template <typename Visit>
  [[nodiscard]] RunningStats time_us(Visit visit, const Bitmap& bits) const {
    RunningStats stats;
    for (unsigned i = 0; i < outer_; ++i) {
      uint64_t start_ns = monotonic_ns();
      for (unsigned j = 0; j < inner_; ++j) {
        keep(*bits.data());
        keep(visit());
      }
      stats.add(static_cast<double>(monotonic_ns() - start_ns) / 1000);
    }
    return stats;
  }

  static void put(Reporter& report, std::string_view what, const RunningStats& us) {
    report.line("  Average {} {:.3f} usec (+- {:.3f} usec)", what, us.mean(), us.error());
  }

  unsigned outer_ = 5;
  unsigned inner_ = 100'000;
};

}  // namespace

std::unique_ptr<Benchmark> make_mem_find_bit() {
  return std::make_unique<FindBit>();
}

}  // namespace sonde
