// The tables of a replayed recording: samples, stacks, frames, threads, mappings, objects, events.
#pragma once

#include <memory>
#include <vector>

#include "sql/row_source.h"
#include "sql/session_texts.h"

namespace sonde::sql {

/// `texts` must outlive them. The session's frames need symbols, its samples all columns.
[[nodiscard]] std::vector<std::unique_ptr<RowSource>> recording_tables(SessionTexts& texts);

}  // namespace sonde::sql
