// One sample as `script` prints it: perf's line, with the call chain, if any, below it.
//
//   spin 14088  1951.702760:    1001001 cpu-clock:ppp:
//   \t            1159 leaf+0x30 (/usr/bin/spin)
//
// Everything that is the same for all samples (field selection, padded event names, frame texts,
// compiled print formats) is prepared in the constructor; `print` may then run in many threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "abi/regs.h"
#include "replay/fields/trace_texts.h"
#include "replay/session.h"
#include "script/branch_code.h"
#include "script/call_names.h"
#include "script/fields.h"
#include "script/frame_texts.h"
#include "script/instruction_text.h"

namespace sonde {

struct PrinterOptions {
  FieldSelection fields;
  bool nanoseconds = false;
  bool call_chains = true;  // -G hides them
  bool show_kernel_path = false;
  bool latency_format = false;  // -L: narrow comm and cpu
  uint32_t max_stack = 127;
  uint32_t max_blocks = 0;                     // of brstackinsn; 0: all
  std::vector<std::string> stop_backtrace_at;  // --stop-bt: symbols at which backtraces stop
  uint32_t object_width = 0;                   // of call traces: names of objects have it; 0: any
  bool full_source_path = false;
  bool counter_names = false;  // -v: brcntr shows names and numbers instead of letters
  bool is_shown = false;       // by a terminal: texts from outside are made printable
};

class SamplePrinter {
 public:
  /// Fails if the samples of an event lack a field that was requested.
  static Result<SamplePrinter> make(const Session& session, const PrinterOptions& options);

  /// Prepares for frames, threads and names added to the session since.
  void grow();
  /// Appends the text of a sample. `time`: the time to show, in ns; may be relative.
  void print(size_t sample, uint64_t time, std::string& out) const;
  /// The start of a line (comm, tid, cpu, time), also for records other than samples.
  struct RecordKind {
    uint32_t type;
    uint16_t misc;
  };
  /// `guest`: the virtual CPU that it is of; null for the host.
  void print_start(EventId event, StringId comm, const SampleId& who, uint64_t time,
                   RecordKind record, const GuestCpu* guest, std::string& out) const;
  /// A frame as printed in call chains, as a line.
  void print_frame(EventId event, const Frame& frame, std::string& out) const;
  /// Whether a terminal shows the text.
  [[nodiscard]] bool is_shown() const { return options_.is_shown; }
  /// What the letters of branch counters stand for, in lines to put first; often empty.
  [[nodiscard]] std::string legend() const;
  /// Whether any event prints anything.
  [[nodiscard]] bool prints(EventId event) const { return !events_[event.index()].fields.empty(); }
  /// Whether samples must be printed one at a time, in order, by one thread.
  [[nodiscard]] bool is_sequential() const { return source_ != nullptr || indent_ != nullptr; }
  /// Whether samples show symbols for addresses outside call chains (branches, data).
  [[nodiscard]] bool needs_all_symbols() const;

 private:
  struct EventStyle {
    EventId event;
    FieldSet fields;
    std::string padded_name;  // "  cs: "
    bool has_chain = false;
    bool needs_decode = false;     // has fields that the columns don't hold
    bool addr_is_place = false;    // its addr is shown with a symbol: page faults, branches
    bool is_branch_trace = false;  // its samples are branches, from ip to addr
    bool shows_target = false;     // for a branch trace
    uint32_t frame_style = 0;
  };

  explicit SamplePrinter(const Session& session, PrinterOptions options);
  Result<> prepare();
  Result<> prepare_code(const EventStyle& style);
  void print_chain(const EventStyle& style, ChainId chain, std::string& out) const;
  void print_address(const EventStyle& style, const Sample& sample, std::string& out) const;
  void print_branch_trace(const EventStyle& style, const Sample& sample, size_t i,
                          std::string& out) const;
  void print_call(const EventStyle& style, const Sample& sample, size_t i, std::string& out) const;
  void print_instruction(const EventStyle& style, const Sample& sample, uint64_t time,
                         std::string& out) const;
  void end_line(const EventStyle& style, size_t i, std::string& out) const;
  void print_branches(const EventStyle& style, const Sample& sample, uint64_t time,
                      std::string& out) const;
  void print_decoded_before_ip(const EventStyle& style, const Sample& sample,
                               std::string& out) const;
  void print_decoded_after_ip(const EventStyle& style, const Sample& sample, uint64_t time,
                              std::string& out) const;

  const Session* session_;
  PrinterOptions options_;
  std::vector<EventStyle> events_;
  std::vector<FrameStyle> frame_styles_;
  std::vector<FrameTexts> frame_texts_;  // by frame style
  std::vector<std::string_view> comms_;  // by StringId
  std::vector<char> stops_;              // by FrameId; empty without --stop-bt
  uint32_t frame_generation_ = 0;        // of those
  TraceTexts traces_;
  std::unique_ptr<CodeBytes> code_;                // null if no instructions are shown
  std::unique_ptr<InstructionText> instructions_;  // null unless as text
  std::unique_ptr<BranchCounters> counters_;       // null without brcntr
  std::unique_ptr<SourceCode> source_;             // null without srccode
  std::unique_ptr<CallIndent> indent_;             // null without callindent
  uint64_t epoch_ns_ = 0;                          // offset from recorded times to the epoch
  abi::Arch arch_ = abi::Arch::kUnknown;
};

}  // namespace sonde
