// KernelUnwinding: --call-graph bpf for `record` and `top`. Loads the stack walker, opens its
// carriers, attaches it to the sampling events, and keeps its tables; the recorder's drain joins
// what comes out (ring_drain.h, ring_copies.h).
//
//   auto unwinding = TRY(KernelUnwinding::open(capture, events, options, env));
//   drain.set_joiner(&unwinding->joiner());
//   … the recording …
//   unwinding->report("record", options, env);
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "base/file.h"
#include "bpf/unwinding/stack_walker.h"
#include "capture/recorders/capture_setup.h"
#include "capture/unwinding/chain_joiner.h"
#include "capture/unwinding/object_tables.h"

namespace sonde {

class KernelUnwinding {
 public:
  /// `capture` has its rings, and nothing counts yet; `events` are those of the file. Errors name
  /// what the kernel lacks, or the event that the walker cannot be attached to.
  static Result<std::unique_ptr<KernelUnwinding>> open(const Capture& capture,
                                                       const std::vector<EventDesc>& events,
                                                       const RecordOptions& options, Env& env);
  KernelUnwinding(const KernelUnwinding&) = delete;
  KernelUnwinding& operator=(const KernelUnwinding&) = delete;

  [[nodiscard]] ChainJoiner& joiner() { return *joiner_; }
  /// Whether the walker gives this event its user chains.
  static bool is_walked(const CaptureEvent& event);

  // With --aggregate the walker counts samples (StackSumWindow); it writes few.
  [[nodiscard]] bool is_nearly_full() { return walker_.sums().is_nearly_full(); }
  /// Ends a window. `event` of its rows is an index in the events of the capture.
  StackSumWindow take_sums();
  /// Completes a row's sample, whose id is set: its user chain's interpreted frames get their
  /// places, which may take records in front of it, and how the chain ended is noted.
  void complete(StackSumRow& row, Sample& sample, std::vector<std::byte>& records);
  /// To be called every few seconds.
  void look() { functions_->look(); }

  /// What could not be unwound, by reason; with -v also by object, and the memory of the tables.
  void report(std::string_view command, const RecordOptions& options, Env& env) const;
  /// A new file begins.
  void restart() { functions_->restart(); }
  /// What is known of interpreted functions, for the file's section.
  [[nodiscard]] std::vector<InterpretedFile> interpreted_files() const {
    return functions_->files();
  }
  /// What was not known at the last call: for those who cannot wait for the end.
  std::vector<InterpretedFile> new_interpreted_files() { return functions_->new_files(); }
  /// The mappings of all of them, for a recording that lacks some that were written.
  void map_interpreted_files(ByteBuilder& out) const { functions_->map_all(out); }

 private:
  KernelUnwinding(StackWalker walker, const RecordOptions& options, Env& env);
  int attach_to(int fd, size_t number, Sys& sys);
  void report_interpreted(std::string_view command, const RecordOptions& options, Env& env) const;
  Result<> add_carriers(const Capture& capture, Sys& sys);
  Result<> attach(const Capture& capture, Sys& sys);
  void load_tables(const Capture& capture, const RecordOptions& options, const Env& env);

  StackWalker walker_;
  ObjectTables tables_;
  std::vector<Fd> carriers_;
  std::optional<InterpretedFunctions> functions_;
  std::optional<ChainJoiner> joiner_;
  std::vector<uint32_t> walked_events_;  // indices in the events of the capture
  bool counts_ = false;                  // samples, instead of writing them
  ChainEnds counted_;                    // of samples that were counted
};

}  // namespace sonde
