// A call tree as plain data: the call graph of a row, however it is rendered.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::view {

struct CallTree {
  struct Node {
    uint64_t cumulative = 0;  // weight of all paths through the node
    uint64_t self = 0;        // weight of paths that end in it
    uint64_t count = 0;       // samples through it
    uint64_t self_count = 0;
    std::vector<std::string_view> labels;  // a run of calls, in path order
    std::vector<uint32_t> children;        // indices into `nodes`, in display order
    [[nodiscard]] uint64_t below() const { return cumulative - self; }
  };
  std::vector<Node> nodes;
  std::vector<uint32_t> top;
  uint64_t row_weight = 0;        // of the row that the tree belongs to
  uint64_t total_weight = 0;      // of the whole table
  std::deque<std::string> texts;  // labels not stored elsewhere
};

/// How trees are displayed.
enum class GraphStyle : uint8_t { kNone, kAbsolute, kRelative, kFlat, kFolded };
enum class GraphValue : uint8_t { kPercent, kPeriod, kCount };

struct GraphOptions {
  GraphStyle style = GraphStyle::kNone;
  GraphValue value = GraphValue::kPercent;
  uint64_t limit = 0;       // nodes shown per level; 0: all
  bool skip_first = false;  // the first label repeats the row's own symbol
};

}  // namespace sonde::view
