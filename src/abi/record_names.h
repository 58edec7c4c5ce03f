// Names of record types and header features, as perf spells them.
#pragma once

#include <cstdint>
#include <string_view>

namespace sonde::abi {

/// Bits of the feature bitmap in the file header.
enum Feature : uint32_t {
#define FEATURE(bit, name, text) kFeature##name = bit,
#include "abi/features.def"
#undef FEATURE
  kFeatureSimpleperfStart = 128,
  kFeatureSimpleperfFile = 128,
  kFeatureSimpleperfMetaInfo = 129,
  kFeatureSimpleperfFile2 = 132,
  kFeatureInterpretedFiles = 192,  // our own
  kFeatureBits = 256,
};

/// "SAMPLE", "FINISHED_ROUND"; empty for an unknown type.
std::string_view record_type_name(uint32_t type);
/// "HOSTNAME"; empty for an unknown bit.
std::string_view feature_name(uint32_t bit);

}  // namespace sonde::abi
