// Decodes feature sections: the inverse of feature_encoder.h. The content of a section is
// untrusted: counts are checked against the bytes left, and a damaged section leaves nothing
// behind.
#pragma once

#include "base/bytes.h"
#include "perfdata/header/features.h"

namespace sonde {

/// Decodes the content of section `bit` into its members of `features` (but does not set
/// `present`). Returns true for unknown bits, whose content is ignored, and false if the section is
/// damaged. Views (tracing data, BPF) point into `section`.
bool decode_feature(uint32_t bit, Bytes section, ByteOrder order, Features& features);

namespace feature {
// One decoder per section or family of sections; used by decode_feature only. Each reads `in` and
// returns whether the section was complete.
std::string read_string(ByteCursor& in);
bool read_strings(ByteCursor& in, std::vector<std::string>& texts);

bool cpu_topology(ByteCursor& in, Features& features);
bool numa_topology(ByteCursor& in, Features& features);
bool cache(ByteCursor& in, Features& features);
bool mem_topology(ByteCursor& in, Features& features);
bool cpu_domain_info(ByteCursor& in, Features& features);
bool simpleperf_file(ByteCursor& in, Features& features);
bool simpleperf_file2(ByteCursor& in, Features& features);
bool simpleperf_meta_info(ByteCursor& in, Features& features);
bool interpreted_files(ByteCursor& in, Features& features);
}  // namespace feature

}  // namespace sonde
