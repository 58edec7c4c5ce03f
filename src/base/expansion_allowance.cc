#include "base/expansion_allowance.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace sonde {
namespace {

constexpr uint64_t kAllowanceMiB = uint64_t{1} << 20;

/// The machine's memory, or what a limit (`ulimit -v`) leaves of it.
uint64_t memory_of_process() {
  long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return 0;
  uint64_t bytes = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0) return bytes;
  return std::min<uint64_t>(bytes, limit.rlim_cur);
}

/// Sums and products that would not fit become the largest number.
uint64_t sum_or_most(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}
uint64_t product_or_most(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

}  // namespace

ExpansionAllowance::Limits ExpansionAllowance::of_analysis(uint64_t memory_bytes) {
  return {.usual_ratio = 100,
          .beyond_usual = std::clamp(memory_bytes / 8, 256 * kAllowanceMiB, 4096 * kAllowanceMiB),
          .at_once = std::max(memory_bytes / 2, 512 * kAllowanceMiB)};
}

ExpansionAllowance::Limits ExpansionAllowance::of_recorder() {
  return {.usual_ratio = 20, .beyond_usual = 64 * kAllowanceMiB, .at_once = 256 * kAllowanceMiB};
}

ExpansionAllowance& ExpansionAllowance::of_process() {
  static ExpansionAllowance allowance(of_analysis(memory_of_process()));
  return allowance;
}

void ExpansionAllowance::become_recorder() {
  Limits limits = of_recorder();
  usual_ratio_ = std::min(usual_ratio_.load(), limits.usual_ratio);
  at_once_ = std::min(at_once_.load(), limits.at_once);
  uint64_t left = beyond_usual_;
  while (left > limits.beyond_usual &&
         !beyond_usual_.compare_exchange_weak(left, limits.beyond_usual)) {
  }
}

bool ExpansionAllowance::take(uint64_t bytes) {
  uint64_t left = beyond_usual_;
  do
    if (bytes > left) return false;
  while (!beyond_usual_.compare_exchange_weak(left, left - bytes));
  return true;
}

bool ExpansionShare::take(uint64_t from, uint64_t to) {
  uint64_t paid = product_or_most(from, allowance_->usual_ratio());
  uint64_t more = to > paid ? to - paid : 0;
  if (more > 0 && !allowance_->take(more)) return false;
  taken_ += more;
  return true;
}

Result<> Expansion::grow(uint64_t from, uint64_t to) {
  uint64_t read = sum_or_most(read_, from), made = sum_or_most(made_, to);
  uint64_t paid = sum_or_most(product_or_most(read, allowance_->usual_ratio()), taken_);
  uint64_t more = made > paid ? made - paid : 0;
  if (more > 0 && !allowance_->take(more))
    return fail(ErrorCode::kUnsupported,
                "{}: {} bytes expand to at least {}, more than the {}-fold that is usual and what "
                "this process may spend beyond that; expand it with its own tool",
                name_, read, made, allowance_->usual_ratio());
  read_ = read;
  made_ = made;
  taken_ += more;
  return {};
}

Result<> Expansion::grow_in_memory(uint64_t from, uint64_t to) {
  uint64_t made = sum_or_most(made_, to), most = allowance_->at_once();
  if (made > most)
    return fail(ErrorCode::kUnsupported,
                "{}: it expands to at least {} bytes, more than the {} MiB that may lie in memory "
                "as one piece",
                name_, made, most >> 20);
  return grow(from, to);
}

}  // namespace sonde
