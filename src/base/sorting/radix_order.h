// Sorts row numbers by numbers of their rows in linear time: tables have a million rows, and what
// orders them (weights, ranks) differs in a few bytes only.
//
//   std::vector<uint32_t> order = all_rows(rows);             // 0, 1, 2 …
//   order_by(order, [&](uint32_t row) { return rank[row]; });   // the least important first
//   order_by(order, [&](uint32_t row) { return ~period[row]; });
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/large_vector.h"

namespace sonde {

[[nodiscard]] inline std::vector<uint32_t> all_rows(size_t count) {
  std::vector<uint32_t> order(count);
  for (uint32_t i = 0; i < count; ++i) order[i] = i;
  return order;
}

namespace internal {

struct NumberedRow {
  uint64_t number;
  uint32_t row;
};

/// One pass by the digit at `shift`; stable.
template <unsigned kBits>
void scatter_by_digit(const LargeVector<NumberedRow>& from, LargeVector<NumberedRow>& to,
                      unsigned shift) {
  constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  std::array<uint32_t, size_t{1} << kBits> next{};
  for (const NumberedRow& row : from) ++next[row.number >> shift & kMask];
  uint32_t start = 0;
  for (uint32_t& count : next) start += std::exchange(count, start);
  for (const NumberedRow& row : from) to[next[row.number >> shift & kMask]++] = row;
}

}  // namespace internal

/// Memory for several orders, one after the other.
struct OrderBuffers {
  LargeVector<internal::NumberedRow> rows, other;
};

/// Smaller numbers first; rows with equal numbers stay in their order. `number_of(row)` is a
/// uint64_t.
template <typename NumberOf>
void order_by(std::span<uint32_t> order, const NumberOf& number_of, OrderBuffers& buffers) {
  constexpr unsigned kDigitBits = 11;  // a table of 8 KB fits into the first cache
  constexpr size_t kFew = 2048;        // comparing is faster than clearing tables
  if (order.size() < 2) return;
  if (order.size() <= kFew) {
    std::ranges::stable_sort(order, {}, number_of);
    return;
  }
  auto& [rows, other] = buffers;
  rows.resize(order.size());
  other.resize(order.size());
  uint64_t first = number_of(order[0]), differing = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    rows[i] = {number_of(order[i]), order[i]};
    differing |= rows[i].number ^ first;
  }
  for (unsigned shift = 0; shift < 64; shift += kDigitBits) {
    if ((differing >> shift & ((uint64_t{1} << kDigitBits) - 1)) == 0) continue;
    internal::scatter_by_digit<kDigitBits>(rows, other, shift);
    rows.swap(other);
  }
  for (size_t i = 0; i < order.size(); ++i) order[i] = rows[i].row;
}
template <typename NumberOf>
void order_by(std::span<uint32_t> order, const NumberOf& number_of) {
  OrderBuffers buffers;
  order_by(order, number_of, buffers);
}

}  // namespace sonde
