// `report` on a terminal: the tables of --stdio to move through, unfold, filter, sort and zoom.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cmd/cmd_report_tables.h"

namespace sonde::report {

/// A recording that is open, with what its tables refer to.
struct OpenRecording {
  explicit OpenRecording(Session opened) : session(std::move(opened)), traces(session) {}
  Session session;
  TraceTexts traces;
};
/// Opens another recording with the same options, ready for tables.
using OpenAnother = std::function<Result<std::unique_ptr<OpenRecording>>(const std::string& path)>;

/// Until the user leaves. `options` name the recording that `open` opened.
Result<int> browse(std::unique_ptr<OpenRecording> recording, const ReportOptions& options,
                   const OpenAnother& open, Env& env);

}  // namespace sonde::report
