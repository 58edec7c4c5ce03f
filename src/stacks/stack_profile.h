// StackProfile: what flame graphs, exports and the explorer are made of. It is the same whether it
// comes from a recording, from folded stacks, from the text of `script`, or from another tool's
// file.
//
// Stacks are a tree that grows from the outermost frame, usually the name of the process:
//
//   cc1 ─ main ─ parse ─ next_token     self 3          cc1;main;parse;next_token 3
//           └── emit                    self 1          cc1;main;emit 1
//
// A node is (parent, frame). Nodes are numbered depth first: what lies below a node are the numbers
// up to end_of it, so sums over subtrees are one backward pass (totals_of). Children stand in
// the alphabetical order of their names where the builder knew them beforehand; who needs another
// order sorts.
//
// Weights stand in columns, one per event (or one before and one after, where profiles are
// compared), each with a value for every node: what fell on exactly this stack.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "base/large_vector.h"
#include "base/string_pool.h"

namespace sonde {

using StackFrameId = Id<struct StackFrameTag>;
using StackNodeId = Id<struct StackNodeTag>;

enum class FrameKind : uint8_t {
  kUser,
  kKernel,   // the kernel, its modules, BPF programs
  kInlined,  // a function that the compiler put into the one around it
  kJit,      // generated code
  kTask,     // no code: the name of a process or thread, at the root
  kWaker,    // the stack of who woke the thread up, or what divides it from the thread's own
};

/// A frame as people see it: code that shares its name, object and kind is one, unless addresses
/// were asked for.
struct StackFrame {
  StringId name = {};    // as it is shown, with its mark ("read_[k]") where marks were asked for
  StringId object = {};  // path of the object; invalid where it is not known
  StringId file = {};    // source file of the function; invalid where it is not known
  uint32_t line =
      0;  // of the function, or of the place where lines are part of the name; 0: unknown
  FrameKind kind = FrameKind::kUser;
  /// Of the instruction: an offset in the object's file; where it ran for the kernel, generated
  /// code and what has no object. Only where addresses were asked for, else 0.
  uint64_t address = 0;
};

/// What is known of a file that frames come from.
struct StackObject {
  StringId path = {};    // StackFrame::object
  std::string build_id;  // hexadecimal; empty where it is not known
};

struct StackNode {
  StackNodeId parent = {};  // invalid: a root
  StackFrameId frame = {};
  uint32_t end = 0;  // one past the last node below
};

struct StackColumn {
  std::string name;          // of the event: "cpu-clock:u"; "samples" where nothing is known
  std::string unit;          // "samples", "nanoseconds", "bytes", "events" …
  std::vector<double> self;  // by node
  double without_stack = 0;  // of samples that have no frame at all
  uint64_t samples = 0;      // how many went in; 0 where only sums are known
};

struct StackThread {
  uint32_t pid = 0;
  uint32_t tid = 0;
  StringId name = {};          // of the thread
  StringId process_name = {};  // of its process
};

/// One entry per sample in every column, in the order of time; empty unless asked for.
struct StackSamples {
  LargeVector<StackNodeId> node;  // invalid: without any frame
  LargeVector<uint32_t> column;   // index into StackProfile::columns
  LargeVector<uint32_t> thread;   // index into StackProfile::threads
  LargeVector<uint32_t> cpu;      // UINT32_MAX where not recorded
  LargeVector<uint64_t> time_ns;
  LargeVector<double> value;
  /// FrameId of the sampled place itself, by value; empty where it comes from no recording.
  LargeVector<uint32_t> place;

  [[nodiscard]] size_t size() const { return node.size(); }
};

/// Of the recording behind a profile; empty where it is not known.
struct RecordingFacts {
  std::string host;
  std::string system;        // release of the operating system
  std::string architecture;  // "x86_64"
  std::string cpu;           // its description
  std::string recorder;      // version of what recorded
  std::string command_line;  // of what recorded
  uint64_t lost_events = 0;  // records that the kernel had no room for
  uint64_t lost_samples = 0;
  bool has_times = true;  // false: StackSamples::time_ns are ranks in the file
};

struct StackProfile {
  std::unique_ptr<StringPool> strings = std::make_unique<StringPool>();
  std::vector<StackFrame> frames;
  LargeVector<StackNode> nodes;
  std::vector<StackColumn> columns;
  std::vector<StackThread> threads;  // only with samples
  std::vector<StackObject> objects;  // of frames, where they are known
  StackSamples samples;
  std::string origin;                       // the file, as messages name it
  std::optional<RecordingFacts> recording;  // where it comes from one

  [[nodiscard]] std::string_view text(StringId id) const { return strings->view(id); }
  [[nodiscard]] const StackFrame& frame_of(StackNodeId node) const {
    return frames[nodes[node.index()].frame.index()];
  }
  [[nodiscard]] std::string_view name_of(StackNodeId node) const {
    return text(frame_of(node).name);
  }
};

/// By node: what fell on it and on all that lies below.
[[nodiscard]] std::vector<double> totals_of(const StackProfile& profile, size_t column);
/// All of a column, without_stack too.
[[nodiscard]] double total_of(const StackColumn& column);
/// Index of the column of this name; the first for an empty one.
[[nodiscard]] std::optional<size_t> find_column(const StackProfile& profile, std::string_view name);
/// Leaves these columns, in the order of the profile; all where no name is given. A name that the
/// profile does not have is an error that says which it has.
Result<> keep_columns(StackProfile& profile, const std::vector<std::string>& names);

}  // namespace sonde
