#include "analysis/comparison/rank_tests.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace sonde {
namespace {

constexpr size_t kExactPairs = 64, kExactRuns = 40;

/// Ranks start at 2 and go up in steps of 2, so that the mean rank shared by equal values is a
/// whole number too.
std::vector<uint32_t> doubled_ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<uint32_t> ranks(values.size());
  for (size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    // Twice the mean of first + 1 … end.
    for (size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<uint32_t>(first + 1 + end);
  }
  return ranks;
}

/// The probability that a normal variable is at least this many deviations off, on either side.
double normal_tails(double distance, double deviation) {
  if (deviation <= 0) return 1;
  return std::erfc(std::max(0.0, distance) / deviation / std::sqrt(2.0));
}

/// `ways[s]`: the number of ways to get the sum s. Two-sided: counts sums at least as far from the
/// middle as `sum`.
double share_as_extreme(std::span<const double> ways, size_t sum, size_t doubled_middle) {
  auto distance = [&](size_t s) {
    return std::abs(2 * static_cast<double>(s) - static_cast<double>(doubled_middle));
  };
  double all = 0, extreme = 0;
  for (size_t s = 0; s < ways.size(); ++s) {
    all += ways[s];
    if (distance(s) >= distance(sum)) extreme += ways[s];
  }
  return all == 0 ? 1 : std::min(1.0, extreme / all);
}

}  // namespace

double signed_rank_p(std::span<const double> differences) {
  std::vector<double> sizes;
  std::vector<bool> is_positive;
  for (double difference : differences) {
    if (difference == 0) continue;
    sizes.push_back(std::abs(difference));
    is_positive.push_back(difference > 0);
  }
  if (sizes.empty()) return 1;
  std::vector<uint32_t> ranks = doubled_ranks(sizes);
  size_t sum = 0, all = 0;
  double squares = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    all += ranks[i];
    squares += static_cast<double>(ranks[i]) * ranks[i];
    if (is_positive[i]) sum += ranks[i];
  }
  if (sizes.size() > kExactPairs) {
    double distance = std::abs(static_cast<double>(sum) - static_cast<double>(all) / 2);
    return normal_tails(distance - 1, std::sqrt(squares / 4));
  }
  std::vector<double> ways(all + 1);
  ways[0] = 1;
  size_t reached = 0;
  for (uint32_t rank : ranks) {
    reached += rank;
    for (size_t s = reached; s >= rank; --s) ways[s] += ways[s - rank];
  }
  return share_as_extreme(ways, sum, all);
}

double rank_sum_p(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 1;
  std::vector<double> both(a.begin(), a.end());
  both.insert(both.end(), b.begin(), b.end());
  std::vector<uint32_t> ranks = doubled_ranks(both);
  size_t sum =
      std::accumulate(ranks.begin(), ranks.begin() + static_cast<ptrdiff_t>(a.size()), size_t{0});
  size_t all = std::accumulate(ranks.begin(), ranks.end(), size_t{0});
  auto n = static_cast<double>(both.size());
  auto na = static_cast<double>(a.size()), nb = static_cast<double>(b.size());
  if (both.size() > kExactRuns) {
    double mean = static_cast<double>(all) / n, squares = 0;
    for (uint32_t rank : ranks) squares += (rank - mean) * (rank - mean);
    double deviation = std::sqrt(na * nb / n / (n - 1) * squares);
    return normal_tails(std::abs(static_cast<double>(sum) - na * mean) - 1, deviation);
  }
  // ways[k][s]: the number of ways to choose k of the values so that their ranks add up to s.
  std::vector<std::vector<double>> ways(a.size() + 1, std::vector<double>(all + 1));
  ways[0][0] = 1;
  for (uint32_t rank : ranks)
    for (size_t k = a.size(); k > 0; --k)
      for (size_t s = all; s >= rank; --s) ways[k][s] += ways[k - 1][s - rank];
  // The middle of the sum is all * na / n, which may not be a whole number: multiply everything by
  // n.
  double middle = static_cast<double>(all) * na,
         distance = std::abs(n * static_cast<double>(sum) - middle);
  double total = 0, extreme = 0;
  for (size_t s = 0; s <= all; ++s) {
    total += ways[a.size()][s];
    if (std::abs(n * static_cast<double>(s) - middle) >= distance - 0.5)
      extreme += ways[a.size()][s];
  }
  return std::min(1.0, extreme / total);
}

double least_signed_rank_p(size_t pairs) {
  return pairs == 0 ? 1 : std::ldexp(1.0, 1 - static_cast<int>(std::min<size_t>(pairs, 1000)));
}

double least_rank_sum_p(size_t a, size_t b) {
  if (a == 0 || b == 0) return 1;
  auto log_factorial = [](size_t n) { return std::lgamma(static_cast<double>(n) + 1); };
  double log_ways = log_factorial(a + b) - log_factorial(a) - log_factorial(b);
  return std::min(1.0, 2 * std::exp(-log_ways));
}

double two_constants_p(size_t a, size_t b) {
  // A count that takes one of two values, decided by a coin with the bias that makes this outcome
  // likeliest.
  auto na = static_cast<double>(a), nb = static_cast<double>(b);
  if (a == 0 || b == 0) return 1;
  return std::min(1.0, 2 * std::exp(na * std::log(na / (na + nb)) + nb * std::log(nb / (na + nb))));
}

}  // namespace sonde
