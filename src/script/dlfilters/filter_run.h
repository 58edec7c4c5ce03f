// A filter of --dlfilter at work: which of a recording's samples it, and script's own options,
// keep.
//
//   std::unique_ptr<FilterRun> filter = TRY(FilterRun::start(options, env));
//   filter->attach(session, options, names, window);
//   for (each sample, in order of time) if (TRY(filter->keeps(sample))) …
//   TRY(filter->stop());
//
// Filters print to the C library's stdout, usually something before a line that they keep. That
// text stays in its buffer until put_text(). Lines may go the same way, to line_sink(), which
// spares two system calls per line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replay/fields/event_window.h"
#include "script/dlfilters/filter_library.h"
#include "script/dlfilters/foreign_call.h"
#include "script/dlfilters/sample_answers.h"
#include "script/options.h"

namespace sonde {

/// The filters that there are, a line each; with more about them if `verbose`.
void print_filters(const Env& env, bool verbose);

class FilterRun {
 public:
  /// Loads the filter of --dlfilter and calls its `start`; null if there is none. From then on its
  /// crashes end the process: see foreign_call.h.
  static Result<std::unique_ptr<FilterRun>> start(const ScriptOptions& options, const Env& env);
  FilterRun(const FilterRun&) = delete;
  FilterRun& operator=(const FilterRun&) = delete;
  /// Calls `stop`, if nobody did.
  ~FilterRun();

  /// Whether it is called for samples before options decide, so that a session must have them all.
  [[nodiscard]] bool sees_all() const { return library_.filter_event_early != nullptr; }

  /// Turns to a session, which must have all samples if sees_all(). Names and window are what else
  /// the options choose; all must outlive this object.
  void attach(Session& session, const ScriptOptions& options, const ItemFilter& names,
              EventWindow& window);

  /// Whether a sample is shown. Must be called for all samples of a batch, in order of time, while
  /// no other thread uses the session. Fails if the filter does.
  Result<bool> keeps(uint32_t sample);

  /// Whether the filter has printed something since put_text().
  [[nodiscard]] static bool has_text();
  /// Writes that, after what the command's output holds.
  void put_text();

  /// The C library's stdout, for lines between the filter's texts; null if the command's output is
  /// something else. Must be flushed before the filter is called again.
  [[nodiscard]] Sink* line_sink();

  /// Calls `stop`. Also fails if what the filter printed could not be written, unless nobody reads
  /// it any longer.
  Result<> stop();

  // Answers to the filter; `context` is this object.
  const perf_dlfilter_al* resolve_ip();
  const perf_dlfilter_al* resolve_addr();
  char** arguments(int* count);
  SampleAnswers* answers() { return in_event_ ? answers_.get() : nullptr; }

 private:
  using EventFunction = int (*)(void*, const perf_dlfilter_sample*, void*);
  FilterRun(std::unique_ptr<CrashHandlers> crashes, FilterLibrary library,
            std::vector<std::string> arguments, const Env& env);
  Result<bool> ask(EventFunction function, const char* name);
  [[nodiscard]] std::unexpected<Error> failed(const char* function, int answer) const;
  [[nodiscard]] bool passes_threads_and_names(uint32_t sample) const;
  [[nodiscard]] bool passes_options(uint32_t sample) const;

  std::unique_ptr<CrashHandlers> crashes_;
  FilterLibrary library_;
  Sink& out_;
  std::unique_ptr<Sink> lines_;
  int stdout_error_ = 0;  // errno
  std::vector<std::string> arguments_;
  std::vector<char*> argument_pointers_;
  void* data_ = nullptr;  // the filter's own
  bool started_ = false;
  bool in_event_ = false;
  uint32_t sample_ = 0;
  const Session* session_ = nullptr;
  SampleFilter threads_, cpus_;
  EventWindow* window_ = nullptr;
  std::unique_ptr<SampleNames> names_;
  std::unique_ptr<SampleAnswers> answers_;
  perf_dlfilter_al ip_{}, addr_{};
};

}  // namespace sonde
