#include "cmd/version/features.h"

#include <fmt/format.h>

#include "python/python_installed.h"

namespace sonde {
namespace {

constexpr Feature kFeatures[] = {
#define FEATURE(name, on, macro) {name, [] { return on; }, macro},
#include "cmd/version/features.def"
#undef FEATURE
};

}  // namespace

std::span<const Feature> all_features() {
  return kFeatures;
}

std::string feature_line(const Feature& feature) {
  return fmt::format("{:>22}: [ {} ]  # {}\n", feature.name, feature.is_on() ? "on " : "OFF",
                     feature.macro);
}

}  // namespace sonde
