#include "base/version.h"

namespace sonde {

std::string_view sonde_version() {
  return SONDE_VERSION;
}

std::string version_under_name(std::string_view tool) {
  std::string own(sonde_version());
  return tool == "perf" ? std::string(kPerfVersion) + ".sonde-" + own : own;
}

}  // namespace sonde
