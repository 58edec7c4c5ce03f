// Call times accumulated by function: the table of `ftrace profile`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "base/error.h"
#include "base/sink.h"

namespace sonde {

enum class CallSort : uint8_t { kTotal, kAverage, kMax, kCount, kName };
/// "total", "avg", "max", "count", "name"; fails with kUsage for others.
Result<CallSort> parse_call_sort(std::string_view word);

class CallProfile {
 public:
  struct Row {
    std::string name;
    uint64_t count = 0, total_ns = 0, longest_ns = 0;
  };

  void add(std::string_view name, uint64_t duration_ns);
  /// Largest first, names alphabetically; ties by name.
  [[nodiscard]] std::vector<Row> sorted(CallSort sort) const;

 private:
  std::vector<Row> rows_;
  tsl::robin_map<std::string, size_t> places_;
};

void write_call_profile(Sink& out, const std::vector<CallProfile::Row>& rows);

}  // namespace sonde
