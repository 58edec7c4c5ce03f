// Encodes feature sections, which follow the data of a file or go into the FEATURE records of a
// pipe: the inverse of the feature reader (Law 4).
#pragma once

#include <span>
#include <vector>

#include "base/bytes.h"
#include "perfdata/header/event_table.h"
#include "perfdata/header/features.h"

namespace sonde {

/// Appends the content of section `bit`. Returns false, and appends nothing, if the bit is unknown.
/// EVENT_DESC is `features.event_descriptions` or, if that is empty, made from `events`; its attrs
/// are stored with `attr_size` bytes.
bool encode_feature(uint32_t bit, const Features& features, std::span<const EventDesc> events,
                    uint32_t attr_size, ByteBuilder& out);

/// Whether perf puts the section into a pipe as a FEATURE record. The others either have record
/// types of their own (TRACING_DATA, BUILD_ID) or are only known at the end of a recording.
bool feature_goes_into_pipe(uint32_t bit);

/// INTERPRETED_FILES for a pipe, as EVENT_UPDATE records: perf rejects a FEATURE record whose
/// number it does not know. `event_id` is the id of any event. Readers add up what such records
/// say.
void encode_interpreted_updates(std::span<const InterpretedFile> files, uint64_t event_id,
                                ByteBuilder& out);

namespace feature {

// simpleperf's sections; used by encode_feature only.
void put_simpleperf_files(const Features& features, ByteBuilder& out);   // FILE
void put_simpleperf_files2(const Features& features, ByteBuilder& out);  // FILE2, as protobuf
void put_simpleperf_meta(const Features& features, ByteBuilder& out);
// Our own; likewise.
void put_interpreted_files(std::span<const InterpretedFile> files, ByteBuilder& out);

}  // namespace feature

}  // namespace sonde
