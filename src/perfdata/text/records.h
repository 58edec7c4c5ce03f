// Encodes record lines of the text format ("COMM pid=1 comm=…").
#pragma once

#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"
#include "perfdata/header/event_table.h"

namespace sonde {

/// Appends the record that `name` and `fields` describe.
Result<> assemble_record(std::string_view name, std::string_view fields,
                         std::span<const EventDesc> events, ByteBuilder& out);

/// The type of PERF_RECORD_`name`; nothing if there is none.
std::optional<uint32_t> record_type_named(std::string_view name);

/// Parses "event : name = cpu-clock, id = { 1 }, type = 1, …" without "event :".
Result<EventDesc> parse_event_line(std::string_view line);

/// The misc= or mode= of a line.
uint16_t misc_of(class Fields& fields);

}  // namespace sonde
