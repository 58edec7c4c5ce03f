// The cost of the kernel's work: attributes each event to its work, and yields the kind of time
// spans that a view needs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kwork/work_names.h"
#include "kwork/work_table.h"
#include "replay/passes/tracepoint_pipeline.h"
#include "replay/sample_columns.h"

namespace sonde {

enum class WorkView : uint8_t {
  kRuntime,  // entry to exit
  kLatency,  // raise to entry
  kHistory,  // both, span by span
  kShares,   // entry to exit, for tasks and what interrupted them
};

struct WorkOptions {
  WorkView view = WorkView::kRuntime;
  std::vector<WorkClass> classes{WorkClass::kIrq, WorkClass::kSoftirq, WorkClass::kWorkqueue};
  std::vector<uint32_t> cpus;  // only these; empty: all
  std::string name;            // only work of this name, or without a name; empty: all
  TimeRange time = {};         // only this
};

/// The events of `classes`; their kind is their index in work_tracepoints().
std::vector<TracepointRequest> work_requests(std::span<const WorkClass> classes);

class WorkAnalysis {
 public:
  /// Called for each span, which ended with `item`, in the views that show spans (kHistory).
  using OnSpan = std::function<void(const Work&, const WorkSpan&)>;
  /// Called when work begins with this item (kHistory).
  using OnBegin = std::function<void(const TracepointItem&)>;

  WorkAnalysis(WorkOptions options, WorkNames& names)
      : options_(std::move(options)), names_(&names) {}
  /// For sums accumulated elsewhere: take() must not be called.
  explicit WorkAnalysis(WorkOptions options) : options_(std::move(options)) {}
  void on_span(OnSpan call) { on_span_ = std::move(call); }
  void on_begin(OnBegin call) { on_begin_ = std::move(call); }

  void consume(const TracepointItem& item, const TracepointPipeline& pipeline);
  /// Adds a piece of work with its sums, unless the options exclude it by CPU or name. Once per
  /// key.
  void add_sum(Work work);
  /// The time range that the sums cover.
  void set_span(uint64_t first_ns, uint64_t last_ns) {
    first_ns_ = first_ns;
    last_ns_ = last_ns;
  }

  [[nodiscard]] const WorkOptions& options() const { return options_; }
  [[nodiscard]] const WorkTable& table() const { return table_; }
  /// Of the events counted; 0 if there were none.
  [[nodiscard]] uint64_t first_ns() const { return first_ns_; }
  [[nodiscard]] uint64_t last_ns() const { return last_ns_; }

 private:
  void take_phase(WorkPhase phase, uint64_t id, std::string_view subject,
                  const TracepointItem& item, const TracepointPipeline& pipeline);
  void enter(Work& work, const TracepointItem& item);
  void exit(Work& work, const TracepointItem& item);
  bool counts(const Work& work, uint64_t time);
  [[nodiscard]] bool is_wanted(const Work& work) const;

  WorkOptions options_;
  WorkNames* names_ = nullptr;
  WorkTable table_;
  OnSpan on_span_;
  OnBegin on_begin_;
  uint64_t first_ns_ = 0, last_ns_ = 0;
};

}  // namespace sonde
