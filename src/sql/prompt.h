// What a user asks of a database: statements, and a few commands that begin with a dot.
#pragma once

#include <string>

#include "base/env.h"
#include "base/error.h"
#include "sql/database.h"

namespace sonde::sql {

/// Answers statements, or one of .schema [TABLE], .tables and .help. kFailed with the reason.
Result<> answer(const std::string& text, Database& database, Sink& out, ResultWriter& writer);

/// Answers what comes on standard input. On a terminal there is a prompt, a wrong statement is
/// told, and the next one read; otherwise it ends the run.
Result<> read_statements(Env& env, Database& database, Sink& out, ResultWriter& writer);

}  // namespace sonde::sql
