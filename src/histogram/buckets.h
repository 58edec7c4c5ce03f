// BucketScale: how values become buckets of a histogram, in the kernel and of a recording alike.
//
// Powers of two: bucket 0 is the value 0, bucket n from 2^(n-1) to 2^n - 1; those of negative
// values mirror them. Buckets of one size are numbered from 0; -1 is what lies below the first, and
// the one after the last what lies above it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sonde {

__extension__ using WideNumber = __int128;  // any signed or unsigned value of 64 bits

struct BucketScale {
  uint64_t size = 0;         // 0: powers of two
  int64_t from = 0, to = 0;  // of buckets of one size; `to` is where the last one ends

  /// The values of a bucket; an open side has no meaning.
  struct Bounds {
    WideNumber first = 0, last = 0;  // both included
    bool open_below = false, open_above = false;
  };

  [[nodiscard]] int32_t bucket_of(uint64_t value, bool is_signed) const;
  [[nodiscard]] Bounds bounds(int32_t bucket) const;
  friend bool operator==(const BucketScale&, const BucketScale&) = default;
};

/// "STEP,MIN,MAX", whole numbers; of times they may have a unit (ns, us, ms, s), and are ns
/// otherwise. Errors: kUsage.
[[nodiscard]] Result<BucketScale> parse_linear(std::string_view text, bool are_times);

}  // namespace sonde
