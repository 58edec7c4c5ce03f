#include "histogram/buckets.h"

#include <bit>
#include <limits>
#include <optional>

#include "base/option_values.h"
#include "base/text.h"

namespace sonde {
namespace {

constexpr uint64_t kMostBuckets = 1000;

/// "-5", "10us".
std::optional<int64_t> parse_bound(std::string_view text, bool is_time) {
  bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  auto number = parse_number(text.substr(0, digits));
  auto unit =
      is_time || digits == text.size() ? time_unit_ns(text.substr(digits), 1) : std::nullopt;
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!number || !unit || *number > kMost / *unit) return std::nullopt;
  auto value = static_cast<int64_t>(*number * *unit);
  return is_negative ? -value : value;
}

}  // namespace

int32_t BucketScale::bucket_of(uint64_t value, bool is_signed) const {
  auto with_sign = static_cast<int64_t>(value);
  if (size == 0) {
    if (is_signed && with_sign < 0) return -static_cast<int32_t>(std::bit_width(-value));
    return static_cast<int32_t>(std::bit_width(value));
  }
  bool is_above = (!is_signed && with_sign < 0) || with_sign >= to;
  if (is_above)
    return static_cast<int32_t>((static_cast<uint64_t>(to) - static_cast<uint64_t>(from)) / size);
  if (with_sign < from) return -1;
  return static_cast<int32_t>((value - static_cast<uint64_t>(from)) / size);
}

BucketScale::Bounds BucketScale::bounds(int32_t bucket) const {
  if (size == 0) {
    if (bucket == 0) return {};
    int width = bucket < 0 ? -bucket : bucket;
    WideNumber first = WideNumber{1} << (width - 1), last = (WideNumber{1} << width) - 1;
    return bucket < 0 ? Bounds{-last, -first} : Bounds{first, last};
  }
  if (bucket < 0) return {.first = 0, .last = WideNumber{from} - 1, .open_below = true};
  WideNumber first = WideNumber{from} + WideNumber{bucket} * size;
  if (first >= to) return {.first = to, .last = 0, .open_above = true};
  return {first, first + size - 1};
}

Result<BucketScale> parse_linear(std::string_view text, bool are_times) {
  std::vector<std::string_view> words = split(text, ',');
  auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::kUsage, "--linear {}: {}; it takes STEP,MIN,MAX, as in {}", text, why,
                are_times ? "10us,0,1ms" : "100,0,4000");
  };
  if (words.size() != 3) return refuse("these are not three numbers");
  auto step = parse_bound(words[0], are_times);
  auto from = parse_bound(words[1], are_times);
  auto to = parse_bound(words[2], are_times);
  if (!step || !from || !to)
    return refuse(are_times ? "a whole number is needed, or one of ns, us, ms or s"
                            : "whole numbers are needed");
  if (*step <= 0 || *from >= *to) return refuse("STEP must be above 0, and MIN below MAX");
  uint64_t span = static_cast<uint64_t>(*to) - static_cast<uint64_t>(*from);
  auto size = static_cast<uint64_t>(*step);
  if (span % size != 0) return refuse("MAX - MIN must be a multiple of STEP");
  if (span / size > kMostBuckets)
    return refuse(fmt::format("that is more than {} buckets", kMostBuckets));
  return BucketScale{.size = size, .from = *from, .to = *to};
}

}  // namespace sonde
