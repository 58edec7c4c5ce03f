// Feature sections, decoded: the inverse of feature_encoder.h. All that a section says is
// untrusted: counts are checked against the bytes left, and a damaged section leaves nothing
// behind.
#pragma once

#include "base/bytes.h"
#include "perfdata/features.h"

namespace sonde {

/// Decodes the content of section `bit` into its members of `features` (not `present`). True for
/// bits that are not known, whose content is left alone. False where the section is damaged.
/// Views (tracing data, BPF) point into `section`.
bool decode_feature(uint32_t bit, Bytes section, ByteOrder order, Features& features);

namespace feature {
// One decoder per section or family of sections; shared by decode_feature only. Each reads `in` and
// answers whether everything was there.
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
}  // namespace feature

}  // namespace sonde
