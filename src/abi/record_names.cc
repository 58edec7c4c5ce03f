#include "abi/record_names.h"

namespace sonde::abi {

std::string_view record_type_name(uint32_t type) {
  switch (type) {
#define RECORD_TYPE(number, name, text) \
  case number:                          \
    return text;
#include "abi/record_types.def"
#undef RECORD_TYPE
    default:
      return {};
  }
}

std::string_view feature_name(uint32_t bit) {
  switch (bit) {
#define FEATURE(number, name, text) \
  case number:                      \
    return text;
#include "abi/features.def"
#undef FEATURE
    case kFeatureInterpretedFiles:
      return "INTERPRETED_FILES";
    default:
      return {};
  }
}

}  // namespace sonde::abi
