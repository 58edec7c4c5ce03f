// StackProfile: the data behind flame graphs, exports and the explorer. It is the same whether it
// comes from a recording, folded stacks, the text of `script`, or another tool's file.
//
// Stacks form a tree that grows from the outermost frame, usually the name of the process:
//
//   cc1 ─ main ─ parse ─ next_token     self 3          cc1;main;parse;next_token 3
//           └── emit                    self 1          cc1;main;emit 1
//
// A node is (parent, frame). Nodes are numbered depth first: the descendants of a node are the
// numbers up to end_of it, so sums over subtrees are one backward pass (totals_of). Children are in
// alphabetical order if the builder knew them beforehand; code that needs another order must sort.
//
// Weights are in columns, one per event (or a before/after pair if profiles are compared), each
// with a value for every node: the self weight of exactly this stack.
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
  kInlined,  // a function inlined into its caller
  kJit,      // generated code
  kTask,     // not code: the name of a process or thread, at the root
  kWaker,    // the stack of the waker, or the separator between it and the thread's own stack
};

/// A frame as shown to users: code with the same name, object and kind is one frame, unless
/// addresses were requested.
struct StackFrame {
  StringId name = {};    // as shown, including the mark ("read_[k]") if marks were requested
  StringId object = {};  // path of the object; invalid if not known
  StringId file = {};    // source file of the function; invalid if not known
  uint32_t line =
      0;  // of the function, or of the place where lines are part of the name; 0: unknown
  FrameKind kind = FrameKind::kUser;
  /// Of the instruction: a file offset in the object; the run-time address for the kernel,
  /// generated code and code without an object. 0 unless addresses were requested.
  uint64_t address = 0;
};

/// What is known about an object file that frames come from.
struct StackObject {
  StringId path = {};    // StackFrame::object
  std::string build_id;  // hexadecimal; empty if not known
  double run_by = 0;     // samples of the tasks whose executable it is; 0 if not known
};

struct StackNode {
  StackNodeId parent = {};  // invalid: a root
  StackFrameId frame = {};
  uint32_t end = 0;  // one past the last descendant
};

struct StackColumn {
  std::string name;          // of the event: "cpu-clock:u"; "samples" if not known
  std::string unit;          // "samples", "nanoseconds", "bytes", "events" …
  std::vector<double> self;  // by node
  double without_stack = 0;  // weight of samples without any frame
  uint64_t samples = 0;      // number of samples counted; 0 if only sums are known
};

struct StackThread {
  uint32_t pid = 0;
  uint32_t tid = 0;
  StringId name = {};          // of the thread
  StringId process_name = {};  // of its process
};

/// One entry per sample in every column, in time order; empty unless requested.
struct StackSamples {
  LargeVector<StackNodeId> node;  // invalid: no frames
  LargeVector<uint32_t> column;   // index into StackProfile::columns
  LargeVector<uint32_t> thread;   // index into StackProfile::threads
  LargeVector<uint32_t> cpu;      // UINT32_MAX if not recorded
  LargeVector<uint64_t> time_ns;
  LargeVector<double> value;
  /// FrameId of the sampled location itself, by value; empty if it does not come from a recording.
  LargeVector<uint32_t> place;

  [[nodiscard]] size_t size() const { return node.size(); }
};

/// About the recording behind a profile; empty if not known.
struct RecordingFacts {
  std::string host;
  std::string system;        // operating system release
  std::string architecture;  // "x86_64"
  std::string cpu;           // its description
  std::string recorder;      // version of the recording tool
  std::string command_line;  // of the recording tool
  uint64_t lost_samples = 0;
  bool is_lost_a_bound = false;  // at most so many: other records may be among them
  uint64_t lost_others = 0;      // records of tasks and memory
  bool has_times = true;         // false: StackSamples::time_ns are ranks in the file
};

struct StackProfile {
  std::unique_ptr<StringPool> strings = std::make_unique<StringPool>();
  std::vector<StackFrame> frames;
  LargeVector<StackNode> nodes;
  std::vector<StackColumn> columns;
  std::vector<StackThread> threads;  // only with samples
  std::vector<StackObject> objects;  // of the frames, if known
  StackSamples samples;
  std::string origin;                       // the file, as messages name it
  std::optional<RecordingFacts> recording;  // if it comes from one

  [[nodiscard]] std::string_view text(StringId id) const { return strings->view(id); }
  [[nodiscard]] const StackFrame& frame_of(StackNodeId node) const {
    return frames[nodes[node.index()].frame.index()];
  }
  [[nodiscard]] std::string_view name_of(StackNodeId node) const {
    return text(frame_of(node).name);
  }
};

/// By node: the weight of its whole subtree.
[[nodiscard]] std::vector<double> totals_of(const StackProfile& profile, size_t column);
/// The sum of a column, including without_stack.
[[nodiscard]] double total_of(const StackColumn& column);
/// Index of the column of this name; the first if the name is empty.
[[nodiscard]] std::optional<size_t> find_column(const StackProfile& profile, std::string_view name);
/// Keeps only these columns, in the profile's order; all if no name is given. A name that the
/// profile does not have is an error that lists the existing ones.
Result<> keep_columns(StackProfile& profile, const std::vector<std::string>& names);

}  // namespace sonde
