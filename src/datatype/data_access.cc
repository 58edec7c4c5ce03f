#include "datatype/data_access.h"

namespace sonde::datatype {

std::string_view describe(AccessKind kind) {
  switch (kind) {
    case AccessKind::kData:
      return "of a known type";
    case AccessKind::kStack:
      return "stack operations";
    case AccessKind::kCanary:
      return "stack canaries";
    case AccessKind::kNoMemory:
      return "instructions without memory";
    case AccessKind::kNoCode:
      return "code not known";
    case AccessKind::kNoDebugInfo:
      return "no debug information";
    case AccessKind::kNoVariable:
      return "address of no known variable";
    case AccessKind::kNoType:
      return "type without members or size";
    case AccessKind::kBadOffset:
      return "outside of the pointer's type, or at an unknown place in it";
  }
  return {};
}

}  // namespace sonde::datatype
