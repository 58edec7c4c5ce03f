// StackTreeBuilder: builds a StackProfile from stacks in any order, as in text and other tools'
// files. (Recordings have too many stacks for that: session_stacks.h.)
//
//   StackTreeBuilder builder;
//   size_t cycles = builder.add_column("cycles", "events");
//   StackFrameId main = builder.frame({.name = builder.intern("main")});
//   builder.add_stack(stack, cycles, 3);            // the outermost frame first
//   StackProfile profile = std::move(builder).finish();
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// Each column has a value for every stack; no tool writes this many, but a hostile file may.
inline constexpr size_t kMaxColumns = 256;

class StackTreeBuilder {
 public:
  StackTreeBuilder() = default;
  /// Continues from a profile that has strings, frames, columns and threads, but no nodes yet.
  explicit StackTreeBuilder(StackProfile begun);

  StringId intern(std::string_view text) { return profile_.strings->intern(text); }
  [[nodiscard]] std::string_view text(StringId id) const { return profile_.text(id); }
  /// Returns the same frame for the same content.
  StackFrameId frame(const StackFrame& frame);
  size_t add_column(std::string_view name, std::string_view unit);
  [[nodiscard]] size_t columns() const { return profile_.columns.size(); }
  size_t add_thread(const StackThread& thread);
  /// Temporary stack numbers that finish() turns into nodes; an empty stack has none.
  StackNodeId child(StackNodeId parent, StackFrameId frame);
  StackNodeId node_of(std::span<const StackFrameId> stack);
  /// Adds to the self weight of a stack.
  void add(StackNodeId node, size_t column, double value);
  void add_stack(std::span<const StackFrameId> stack, size_t column, double value) {
    add(node_of(stack), column, value);
  }
  /// A sample with its time, in addition to summing it up.
  struct Event {
    uint64_t time_ns = 0;
    uint32_t thread = 0;
    uint32_t cpu = UINT32_MAX;
  };
  void add_sample(StackNodeId node, size_t column, double value, const Event& event);

  /// Numbers the nodes depth first, children by name, and sorts the samples by time. `new_numbers`:
  /// the nodes of the profile, indexed by their temporary numbers.
  [[nodiscard]] StackProfile finish(std::vector<StackNodeId>* new_numbers = nullptr) &&;

 private:
  struct FrameHash {
    size_t operator()(const StackFrame& frame) const;
  };
  struct FrameEqual {
    bool operator()(const StackFrame& a, const StackFrame& b) const;
  };
  [[nodiscard]] std::vector<StackNodeId> depth_first() const;

  StackProfile profile_;
  tsl::robin_map<StackFrame, uint32_t, FrameHash, FrameEqual> frames_;
  tsl::robin_map<uint64_t, uint32_t, NumberHash> children_;  // (parent + 1, frame) → node
};

}  // namespace sonde
