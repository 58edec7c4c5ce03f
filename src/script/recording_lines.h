// The lines of `script` for a session, whole or batch by batch.
//
//   ScriptLines lines(session, options, env);
//   TRY(lines.write());      // for a pipe: once per batch
#pragma once

#include <optional>

#include "script/dlfilters/filter_run.h"
#include "script/function_graph.h"
#include "script/options.h"
#include "script/stat_lines.h"

namespace sonde {

/// Leaves out what no line needs: chains, and the symbols of frames.
void narrow_to_lines(const ScriptOptions& options, const EventTable& events,
                     const Features& features, SessionOptions& session);

class ScriptLines {
 public:
  /// `dlfilter`, null if there is none, must outlive it.
  ScriptLines(Session& session, const ScriptOptions& options, FilterRun* dlfilter, Env& env);
  /// Writes what the session holds now. False if nothing more is wanted: only the header was asked
  /// for, or the output is closed.
  Result<bool> write();

 private:
  Result<> prepare();
  Result<> begin();
  Result<std::vector<ScriptItem>> filtered_items();
  [[nodiscard]] bool output_failed() const;
  [[nodiscard]] bool has_new_events() const;

  Session& session_;
  const ScriptOptions& options_;
  FilterRun* dlfilter_;
  Sink* line_by_line_ = nullptr;  // where lines go once the filter has printed something
  Env& env_;
  bool begun_ = false;
  std::optional<StatLines> counts_;  // for a recording of `stat`
  std::optional<SamplePrinter> printer_;
  std::string legend_;  // of branch counters, as written
  size_t events_known_ = 0;
  size_t objects_known_ = 0;
  ItemFilter filter_;
  EventWindow gate_;
  FunctionGraph functions_;
  LineClock clock_;
  LineBuffers buffers_;
};

}  // namespace sonde
