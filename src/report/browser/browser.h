// `report` on a terminal: the tables of --stdio, to navigate, unfold, filter, sort and zoom.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "datatype/session_types.h"
#include "report/outside.h"
#include "report/tables.h"
#include "tui/pages/page.h"
#include "tui/terminal/terminal.h"

namespace sonde::report {

/// An open recording, with what its tables refer to.
struct OpenRecording {
  /// `world`: the Env the session was opened in, if it has its own.
  explicit OpenRecording(Session opened, std::unique_ptr<Outside> world = nullptr)
      : outside(std::move(world)),
        session(std::move(opened)),
        traces(session),
        data_types(std::make_shared<datatype::SessionTypes>(session)) {}
  std::unique_ptr<Outside> outside;
  Session session;
  TraceTexts traces;
  /// Shared by all its tables, which are built one at a time.
  std::shared_ptr<datatype::SessionTypes> data_types;
};
/// Opens another recording with the same options, ready for tables.
using OpenAnother = std::function<Result<std::unique_ptr<OpenRecording>>(const std::string& path)>;

/// The browser's first page. `options` name the recording that `open` opened; `is_whole`: it is not
/// on top of another page to which q returns. `wake` is that of the pages. An error is what --stdio
/// would print.
Result<std::unique_ptr<tui::Page>> make_page(std::unique_ptr<OpenRecording> recording,
                                             const ReportOptions& options, OpenAnother open,
                                             tui::Terminal& terminal, const tui::Theme& theme,
                                             Env& env, bool is_whole, const tui::Wake& wake);
/// Runs until the user leaves.
Result<int> browse(std::unique_ptr<OpenRecording> recording, const ReportOptions& options,
                   OpenAnother open, Env& env);

}  // namespace sonde::report
