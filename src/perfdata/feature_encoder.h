// Feature sections as they stand behind the data of a file, and in FEATURE records of a pipe: the
// inverse of the feature reader (Law 4).
#pragma once

#include <span>
#include <vector>

#include "base/bytes.h"
#include "perfdata/event_table.h"
#include "perfdata/features.h"

namespace sonde {

/// Appends the content of section `bit`. False for a bit that is not known; then nothing is
/// appended. EVENT_DESC is `features.event_descriptions`, or made from `events` where that is
/// empty; its attrs are stored with `attr_size` bytes.
bool encode_feature(uint32_t bit, const Features& features, std::span<const EventDesc> events,
                    uint32_t attr_size, ByteBuilder& out);

/// Whether perf puts the section into a pipe as a FEATURE record. The others are either records of
/// their own (TRACING_DATA, BUILD_ID) or only known when a recording has ended.
bool feature_goes_into_pipe(uint32_t bit);

namespace feature {

// simpleperf's sections; shared by encode_feature only.
void put_simpleperf_files(const Features& features, ByteBuilder& out);   // FILE
void put_simpleperf_files2(const Features& features, ByteBuilder& out);  // FILE2, as protobuf
void put_simpleperf_meta(const Features& features, ByteBuilder& out);

}  // namespace feature

}  // namespace sonde
